// The attributes of rows change while others change, erase, replace and move the same rows.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/collection/updated_fixture.h"

namespace farvec::collection {
namespace {

class UpdatesBesideOthers : public UpdatedRows {
 protected:
  static constexpr std::uint64_t kIds = 600;

  void start() {
    create("left: i64, right: i64");
    Batch batch;
    layout::Tuples tuples;
    for (std::uint64_t id = 0; id < kIds; ++id) {
      batch.add(id, random_row(random_));
      tuples.append(schema_, Values{std::int64_t{0}, std::int64_t{0}});
    }
    insert({batch.rows(), batch.ids(), tuples.view()});
  }
  std::uint64_t count(const std::string& filter) const {
    return collection_->list({.filter = filter}, {}).matches;
  }
  /// Flushes and compacts while `work` runs.
  void while_all_moves(const std::function<void()>& work) {
    std::atomic<bool> over{false};
    std::thread mover([&] {
      while (!over) {
        collection_->flush();
        collection_->compact();
      }
    });
    work();
    over = true;
    mover.join();
  }
};

/// Two threads change different columns of the same rows: neither loses what the other has done.
TEST_F(UpdatesBesideOthers, LoseNothing) {
  start();
  constexpr std::int64_t kRounds = 12;
  while_all_moves([&] {
    std::vector<std::thread> threads;
    for (const char* column : {"left", "right"}) {
      threads.emplace_back([&, column] {
        Random dice(column[0]);
        for (std::int64_t round = 1; round <= kRounds; ++round) {
          const std::uint64_t cut = dice.below(kIds);
          const std::string split = std::to_string(cut);
          const auto low = update_where("id < " + split, column, round);
          const auto high = update_where("id >= " + split, column, round);
          EXPECT_EQ(low.done + high.done, kIds);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(count("left = 12 and right = 12"), kIds);
  open();
  EXPECT_EQ(count("left = 12 and right = 12"), kIds);
}

/// A row that no longer meets the condition when it would be erased stays.
TEST_F(UpdatesBesideOthers, SaveRowsFromAnErasure) {
  start();
  Receipt saved;
  Receipt gone;
  while_all_moves([&] {
    std::thread saver([&] {
      for (std::uint64_t id = 0; id < kIds; id += 3) {
        saved += update({id}, "left", {std::int64_t{1}});
      }
    });
    for (std::uint64_t end = 10; end <= kIds; end += 10) {
      collection_->erase_matching("left = 0 and id < " + std::to_string(end), within(kPatienceUs),
                                  gone);
    }
    saver.join();
  });
  EXPECT_EQ(saved.done + saved.missing, kIds / 3);
  EXPECT_EQ(count("left = 1"), saved.done);
  EXPECT_EQ(count(""), saved.done);
  EXPECT_EQ(saved.done + gone.done, kIds);
}

/// A row that is replaced while it is updated has the new row's attributes, or those and the
/// update.
TEST_F(UpdatesBesideOthers, LeaveRowsThatAreReplacedWhole) {
  start();
  while_all_moves([&] {
    std::atomic<bool> over{false};
    std::thread replacer([&] {
      Random dice(3);
      while (!over) {
        Batch batch;
        batch.add(dice.below(kIds), random_row(dice));
        layout::Tuples tuples;
        tuples.append(schema_, Values{std::int64_t{0}, std::int64_t{9}});
        Receipt receipt;
        collection_->insert({batch.rows(), batch.ids(), tuples.view()}, within(kPatienceUs),
                            receipt);
      }
    });
    for (std::int64_t round = 1; round < 10; ++round) {
      EXPECT_GT(update_where("id < 500", "left", round).done, 0u);
    }
    over = true;
    replacer.join();
  });
  EXPECT_EQ(count(""), kIds);
  EXPECT_EQ(count("right = 9 or right = 0"), kIds);
  EXPECT_EQ(count("right = 0 and left != 9 and id < 500"), 0u);
}

}  // namespace
}  // namespace farvec::collection
