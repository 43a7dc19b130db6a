// A process that changes a collection is killed at any moment, again and again: what was
// acknowledged is there, and nothing that was never sent. So is what another process sees that
// follows it from life to life, and is killed as well. FARVEC_KILLS=1000 kills so often [25].
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "base/error.h"
#include "collection/read/collection_follower.h"
#include "collection/read/collection_reader.h"
#include "tests/unit/collection/killed_writer.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::collection {
namespace {

/// Most are short; in those of every fourth segments are built and merged.
constexpr auto kShortLife = std::chrono::milliseconds(120);
constexpr auto kLongLife = std::chrono::milliseconds(1000);

/// Follows, and answers every version that it is asked for with the one that it has then, or more;
/// with 0 when it does not have it or something else. Never returns.
[[noreturn]] void follow_until_killed(const std::filesystem::path& path, const char* tier,
                                      int asked, int answers) {
  try {
    const CollectionFollower follower(path, small_segments(tier),
                                      {.poll_us = 500, .manifest_us = 2'000, .retry_us = 2'000});
    Random random(5);
    Rows rows;
    std::uint64_t version = 0;
    for (std::uint64_t wanted = 0; read(asked, &wanted, sizeof(wanted)) == sizeof(wanted);) {
      const Ticks deadline = now_ticks() + us_to_ticks(kPatienceUs);
      while (follower.view()->version < wanted && now_ticks() < deadline) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
      const ViewPointer view = follower.view();
      std::uint64_t answer = view->version;
      if (answer < wanted || !bring_to(answer, version, rows)) answer = 0;
      const auto condition = of_any_tenant(*view->schema);
      expect_holds(view, rows, random, Metric::l2, condition.get());
      if (testing::Test::HasFailure()) answer = 0;
      if (write(answers, &answer, sizeof(answer)) != sizeof(answer)) _exit(2);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the follower failed: %s\n", error.what());
  }
  _exit(3);
}

/// A process that follows a collection.
class FollowingProcess {
 public:
  FollowingProcess(const std::filesystem::path& path, const char* tier) {
    if (pipe(asked_) != 0 || pipe(answers_) != 0) throw Error("no pipe");
    process_ = fork();
    if (process_ < 0) throw Error("no process");
    if (process_ == 0) follow_until_killed(path, tier, asked_[0], answers_[1]);
    close(asked_[0]);
    close(answers_[1]);
  }
  ~FollowingProcess() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    close(asked_[1]);
    close(answers_[0]);
  }
  FollowingProcess(const FollowingProcess&) = delete;
  FollowingProcess& operator=(const FollowingProcess&) = delete;

  /// The version that it has when it has this one; 0 when it never does.
  std::uint64_t ask(std::uint64_t version) {
    std::uint64_t answer = 0;
    if (write(asked_[1], &version, sizeof(version)) != sizeof(version)) return 0;
    return read(answers_[0], &answer, sizeof(answer)) == sizeof(answer) ? answer : 0;
  }

 private:
  int asked_[2] = {};
  int answers_[2] = {};
  pid_t process_ = 0;
};

void kill_again_and_again(const layout::CollectionManifest& shape, const char* tier,
                          const layout::Schema& columns = {}) {
  const tests::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "set";
  Collection::create(path, shape);
  const int kills = kills_of("FARVEC_KILLS", 25);
  Random random(3);
  Rows rows;
  std::uint64_t version = 0;
  Report all;
  double longest_s = 0;
  std::signal(SIGPIPE, SIG_IGN);  // a follower that ended is an answer that is missing
  auto follower = std::make_unique<FollowingProcess>(path, tier);
  for (int kill_count = 0; kill_count < kills; ++kill_count) {
    KilledWriter writer(path, small_access(tier), columns);
    // Some are killed while they open it.
    Report acknowledged{.version = version};
    if (kill_count % 5 != 0) acknowledged = writer.next(acknowledged);
    std::this_thread::sleep_for((kill_count % 4 == 3 ? kLongLife : kShortLife) * random.uniform());
    ASSERT_TRUE(writer.kill()) << "it ended by itself";
    acknowledged = writer.last(acknowledged);
    all.built += acknowledged.built;
    all.merged += acknowledged.merged;

    CollectionReader reader(path, small_segments(tier));
    const std::uint64_t reached = reader.view()->version;
    ASSERT_GE(reached, acknowledged.version) << "after " << kill_count << " kills";
    ASSERT_TRUE(bring_to(reached, version, rows)) << "a part of a batch";
    const auto condition = of_any_tenant(*reader.view()->schema);
    ASSERT_NO_FATAL_FAILURE(expect_holds(reader.view(), rows, random, Metric::l2, condition.get()))
        << kill_count << " kills";
    if (!reader.view()->schema->empty()) {
      expect_marks(*reader.view(), kSmallDimension * sizeof(float));
      ASSERT_FALSE(testing::Test::HasFailure()) << kill_count << " kills";
    }
    // Now and then it is killed, also while it opens the collection and while it follows.
    if (kill_count % 5 == 4) follower = std::make_unique<FollowingProcess>(path, tier);
    if (kill_count % 5 != 4) {
      ASSERT_EQ(follower->ask(reached), reached) << "after " << kill_count << " kills";
    }
    longest_s = std::max(longest_s, reader.recovery().seconds);
  }
  fmt::print("{} kills, {} changes, {} segments built, {} merged, longest recovery {:.3f} s\n",
             kills, version, all.built, all.merged, longest_s);
  EXPECT_GT(version, 0u);
  const layout::Schema grown = layout::read_collection(path).schema;
  if (!columns.empty()) {
    EXPECT_TRUE(columns.begins_with(grown));
  }
  // Some hundred steps, of which each fourth adds a column.
  if (version > 1500) {
    EXPECT_GE(grown.size(), columns.size());
  }
}

TEST(CollectionKills, WhatWasAcknowledgedStays) {
  kill_again_and_again(small_shape(), "dram");
}

TEST(CollectionKills, RowsKeepTheirAttributes) {
  layout::CollectionManifest shape = small_shape();
  shape.schema = mark_schema();
  kill_again_and_again(shape, "dram");
}

/// Segments have such rows in another order than memtables and other segments.
TEST(CollectionKills, RowsOfTenantsKeepTheirAttributes) {
  layout::CollectionManifest shape = small_shape();
  shape.schema = tenant_mark_schema();
  kill_again_and_again(shape, "dram");
}

TEST(CollectionKills, ColumnsThatComeLaterStay) {
  kill_again_and_again(small_shape(), "dram", later_mark_schema());
}

TEST(CollectionKills, WhatWasAcknowledgedStaysInSlottedPages) {
  kill_again_and_again(small_page_shape(), "ssd");
}

TEST(CollectionKills, WhatWasAcknowledgedStaysWhereSegmentsHaveSecondCopies) {
  kill_again_and_again(reduced(small_shape(), {.type = ElementType::b1, .rule = BitRule::mean}),
                       "dram");
}

}  // namespace
}  // namespace farvec::collection
