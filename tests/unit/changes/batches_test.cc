#include "changes/batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "tests/unit/message_of.h"

namespace farvec::changes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint32_t kDimension = 2;

/// A map behind the face. It has room for some rows, and says how it was called.
class ToyIndex final : public Changing {
 public:
  RowShape row_shape() const override {
    return {.dimension = kDimension, .batch_rows = 4, .batch_ids = 3, .batch_gets = 2};
  }
  void check(const RowBatch& batch) const override { check_shape(batch, {}); }
  void insert(const RowBatch& batch, const Patience& patience, Receipt& receipt) override {
    const auto& [given, ids, attributes] = batch;
    calls.push_back(given.count);
    patiences.push_back(patience.until);
    for (std::size_t i = 0; i < given.count; ++i) {
      if (rows.size() == room) throw Refusal(StatusCode::resource_exhausted, "there is no room");
      const auto* const row = reinterpret_cast<const float*>(given.row(i));
      const bool is_new = rows.insert_or_assign(ids[i], std::vector(row, row + kDimension)).second;
      receipt += {.version = ++version, .done = 1, .replaced = is_new ? 0u : 1u};
    }
  }
  void erase(std::span<const std::uint64_t> ids, const Patience&, Receipt& receipt) override {
    calls.push_back(ids.size());
    for (const std::uint64_t id : ids) {
      const std::uint64_t found = rows.erase(id);
      receipt += {.version = ++version, .done = found, .missing = 1 - found};
    }
  }
  FoundRows get(std::span<const std::uint64_t> ids, const Patience&) const override {
    FoundRows found{.version = version};
    for (const std::uint64_t id : ids.first(std::min(ids.size(), most_gets))) {
      const auto row = rows.find(id);
      found.found.push_back(row != rows.end());
      if (row == rows.end()) continue;
      const auto bytes = std::as_bytes(std::span(row->second));
      found.rows.insert(found.rows.end(), bytes.begin(), bytes.end());
    }
    return found;
  }
  bool flush(const Interruption&) override { return true; }
  bool compact(const Interruption&) override { return true; }
  nlohmann::ordered_json now() const override { return {{"vectors", rows.size()}}; }

  std::size_t most_gets = 1000;  ///< rows that one get() returns
  std::map<std::uint64_t, std::vector<float>> rows;
  std::uint64_t version = 0;
  std::size_t room = 100;
  std::vector<std::size_t> calls;
  std::vector<Ticks> patiences;
};

class Batched : public ::testing::Test {
 protected:
  explicit Batched(std::size_t count = 10) : values_(count * kDimension), ids_(count) {
    std::iota(values_.begin(), values_.end(), 0.0f);
    std::iota(ids_.begin(), ids_.end(), std::uint64_t{100});
  }
  VectorView rows() const {
    return packed_view(values_.data(), ids_.size(), kDimension, ElementType::f32);
  }

  std::vector<float> values_;
  std::vector<std::uint64_t> ids_;
  ToyIndex index_;
  Receipt receipt_;
};

TEST_F(Batched, EveryRowGoesInOnceAndIsCounted) {
  std::uint64_t told = 0;
  insert_all(index_, {rows(), ids_}, {.advanced = [&](std::uint64_t more) { told += more; }},
             receipt_);
  EXPECT_THAT(index_.calls, ElementsAre(4, 4, 2));
  EXPECT_EQ(told, 10u);
  EXPECT_EQ(receipt_.done, 10u);
  EXPECT_EQ(receipt_.version, 10u);
  EXPECT_EQ(index_.rows.at(109), (std::vector<float>{18, 19}));
  insert_all(index_, {rows().part(8, 2), std::span(ids_).subspan(8)}, {}, receipt_);
  EXPECT_EQ(receipt_.done, 12u);
  EXPECT_EQ(receipt_.replaced, 2u);
}

TEST_F(Batched, IdsAreErasedAndReadInTheirOrder) {
  insert_all(index_, {rows(), ids_}, {}, receipt_);
  index_.calls.clear();
  Receipt erased;
  erase_all(index_, std::vector<std::uint64_t>{101, 7, 102, 103}, {}, erased);
  EXPECT_THAT(index_.calls, ElementsAre(3, 1));
  EXPECT_EQ(erased.done, 3u);
  EXPECT_EQ(erased.missing, 1u);
  index_.most_gets = 1;
  const FoundRows found = get_all(index_, std::vector<std::uint64_t>{104, 101, 100}, {});
  EXPECT_EQ(found.found, (std::vector<bool>{true, false, true}));
  const auto* const values = reinterpret_cast<const float*>(found.rows.data());
  EXPECT_THAT(std::vector(values, values + found.rows.size() / sizeof(float)),
              ElementsAre(8, 9, 0, 1));
  EXPECT_EQ(found.version, index_.version);
}

TEST_F(Batched, OfACallThatFailsTheReceiptCountsWhatIsIn) {
  index_.room = 6;
  EXPECT_THAT(tests::message_of([&] {
                insert_all(index_, {rows(), ids_}, {}, receipt_);
              }),
              HasSubstr("there is no room (RESOURCE_EXHAUSTED)"));
  EXPECT_EQ(receipt_.done, 6u);
  EXPECT_EQ(index_.rows.size(), 6u);
}

TEST_F(Batched, AnInterruptionEndsThemBetweenTwo) {
  const Patience patience{.interrupted = [&] { return index_.calls.size() == 2; }};
  EXPECT_THROW(insert_all(index_, {rows(), ids_}, {.patience = patience}, receipt_),
               WorkInterrupted);
  EXPECT_EQ(receipt_.done, 8u);
}

TEST_F(Batched, EachHasItsOwnTimeWithinThatOfAll) {
  insert_all(index_, {rows(), ids_}, {}, receipt_);
  EXPECT_EQ(index_.patiences.front(), Patience::kWithoutEnd);
  index_.patiences.clear();
  const Ticks before = now_ticks();
  insert_all(index_, {rows(), ids_}, {.batch_us = 60e6}, receipt_);
  for (const Ticks until : index_.patiences) {
    EXPECT_GE(until, before + us_to_ticks(60e6));
    EXPECT_LE(until, now_ticks() + us_to_ticks(60e6));
  }
  index_.patiences.clear();
  insert_all(index_, {rows(), ids_}, {.patience = {.until = before}, .batch_us = 60e6}, receipt_);
  EXPECT_THAT(index_.patiences, ElementsAre(before, before, before));
}

TEST_F(Batched, NothingIsNoCall) {
  insert_all(index_, {rows().part(0, 0), {}}, {}, receipt_);
  erase_all(index_, {}, {}, receipt_);
  EXPECT_TRUE(get_all(index_, {}, {}).found.empty());
  EXPECT_TRUE(index_.calls.empty());
}

}  // namespace
}  // namespace farvec::changes
