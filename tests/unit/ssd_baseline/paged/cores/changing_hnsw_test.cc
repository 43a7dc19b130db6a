#include "ssd_baseline/paged/cores/changing_hnsw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

#include "tests/unit/message_of.h"
#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using ::testing::HasSubstr;
using testing::Rows;

/// An empty graph behind the face, beside a map of what it should hold.
class ChangingHnswTest : public ::testing::Test {
 protected:
  explicit ChangingHnswTest(Metric metric = Metric::l2) : config_(testing::small_config()) {
    config_.metric = metric;
    hnsw_ = PagedHnsw::create(testing::store_options(folder_), config_, {});
    HnswCrewOptions crew;
    crew.threads = 2;
    crew.slots = 4;
    index_ = std::make_unique<ChangingHnsw>(*hnsw_, crew);
  }
  /// Rows `begin` to `end` of the set go in under their numbers.
  changes::Receipt insert(std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> ids(end - begin);
    std::iota(ids.begin(), ids.end(), begin);
    const VectorView rows = set_.view().part(begin, end - begin);
    index_->check({rows, ids});
    changes::Receipt receipt;
    index_->insert({rows, ids}, {}, receipt);
    for (const std::uint64_t id : ids) live_[id] = set_.row(id);
    return receipt;
  }
  changes::Receipt erase(const std::vector<std::uint64_t>& ids) {
    changes::Receipt receipt;
    index_->erase(ids, {}, receipt);
    for (const std::uint64_t id : ids) live_.erase(id);
    return receipt;
  }
  void expect_rows() const {
    std::vector<std::uint64_t> ids(set_.count() + 3);
    std::iota(ids.begin(), ids.end(), std::uint64_t{0});
    const changes::FoundRows got = index_->get(ids, {});
    ASSERT_EQ(got.found.size(), ids.size());
    ASSERT_EQ(got.rows.size(), live_.size() * set_.row_bytes());
    const std::byte* next = got.rows.data();
    for (const std::uint64_t id : ids) {
      const auto row = live_.find(id);
      ASSERT_EQ(got.found[id], row != live_.end()) << id;
      if (row == live_.end()) continue;
      ASSERT_EQ(std::memcmp(next, row->second.data(), row->second.size()), 0) << id;
      next += row->second.size();
    }
    EXPECT_EQ(index_->now().at("count"), live_.size());
  }

  tests::TemporaryFolder folder_;
  HnswConfig config_;
  Rows set_{300, testing::small_config()};
  std::unique_ptr<PagedHnsw> hnsw_;
  std::unique_ptr<ChangingHnsw> index_;
  std::map<std::uint64_t, std::span<const std::byte>> live_;
};

TEST_F(ChangingHnswTest, HoldsWhatWentInAndWasNotErased) {
  expect_rows();
  const changes::Receipt in = insert(0, 200);
  EXPECT_EQ(in.done, 200u);
  EXPECT_EQ(in.version, hnsw_->store().log().end());
  expect_rows();
  const changes::Receipt out = erase({3, 5, 250, 199});
  EXPECT_EQ(out.done, 3u);
  EXPECT_EQ(out.missing, 1u);
  EXPECT_GT(out.version, in.version);
  expect_rows();
  EXPECT_TRUE(index_->compact());
  expect_rows();
  (void)insert(200, 300);
  (void)insert(3, 4);
  EXPECT_TRUE(index_->flush());
  expect_rows();
  index_.reset();
  hnsw_.reset();
  hnsw_ = PagedHnsw::open(testing::store_options(folder_));
  index_ = std::make_unique<ChangingHnsw>(*hnsw_);
  expect_rows();
}

TEST_F(ChangingHnswTest, RefusesWhatItCannotHoldByName) {
  const auto said = [&](const VectorView& rows, const std::vector<std::uint64_t>& ids) {
    return tests::message_of([&] { index_->check({rows, ids}); });
  };
  const VectorView two = set_.view().part(0, 2);
  EXPECT_THAT(said(two, {1, kInvalidNode}), HasSubstr("id 4294967295 is out of range"));
  EXPECT_THAT(said(two, {1, std::uint64_t{1} << 32}), HasSubstr("id 4294967296 is out of range"));
  EXPECT_THAT(said(two, {1, 1}), HasSubstr("id 1 comes twice"));
  EXPECT_THAT(said(two, {1}), HasSubstr("2 rows and 1 ids"));
  std::vector<float> wide(26);
  EXPECT_THAT(said(packed_view(wide.data(), 2, 13, ElementType::f32), {1, 2}),
              HasSubstr("rows of 13 x f32 do not fit a graph of 12 x f32"));
  wide[13] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(said(packed_view(wide.data(), 2, 12, ElementType::f32), {8, 9}),
              HasSubstr("row 1 (id 9) holds NaN"));
  changes::Receipt receipt;
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { index_->erase(std::vector<std::uint64_t>{kInvalidNode}, {}, receipt); },
           [&] { (void)index_->get(std::vector<std::uint64_t>{kInvalidNode}, {}); }}) {
    EXPECT_THAT(tests::message_of(call), HasSubstr("id 4294967295 is out of range"));
  }
}

TEST_F(ChangingHnswTest, RefusesAttributesByName) {
  layout::Tuples tuples;
  tuples.append(layout::parse_schema("a: i64"), std::vector<layout::Value>{std::int64_t{1}});
  const std::vector<std::uint64_t> ids{7};
  EXPECT_NE(tests::message_of([&] {
              index_->check({set_.view().part(0, 1), ids, tuples.view()});
            }).find("a paged HNSW takes no attributes"),
            std::string::npos);
}

TEST_F(ChangingHnswTest, AnInterruptionEndsACallAndTheReceiptCountsWhatIsIn) {
  std::vector<std::uint64_t> ids(300);
  std::iota(ids.begin(), ids.end(), std::uint64_t{0});
  std::atomic<int> asked{0};
  changes::Receipt receipt;
  EXPECT_THROW(
      index_->insert({set_.view(), ids}, {.interrupted = [&] { return ++asked > 50; }}, receipt),
      WorkInterrupted);
  EXPECT_GT(receipt.done, 0u);
  EXPECT_LT(receipt.done, 300u);
  EXPECT_EQ(index_->now().at("count"), receipt.done);
  EXPECT_THROW((void)index_->get(ids, {.interrupted = [] { return true; }}), WorkInterrupted);
}

TEST_F(ChangingHnswTest, RowsAreReadWhileOthersChange) {
  (void)insert(0, 150);
  std::vector<std::uint64_t> kept(100);
  std::iota(kept.begin(), kept.end(), std::uint64_t{0});
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      const changes::FoundRows got = index_->get(kept, {});
      ASSERT_EQ(got.rows.size(), kept.size() * set_.row_bytes());
      for (const std::uint64_t id : kept) {
        ASSERT_EQ(std::memcmp(got.rows.data() + id * set_.row_bytes(), set_.row(id).data(),
                              set_.row_bytes()),
                  0);
      }
    }
  });
  for (int round = 0; round < 5; ++round) {
    std::vector<std::uint64_t> ids(50);
    std::iota(ids.begin(), ids.end(), std::uint64_t{100});
    (void)erase(ids);
    (void)index_->compact();
    (void)insert(100, 150);
  }
  done = true;
  reader.join();
  expect_rows();
}

class ChangingCosine : public ChangingHnswTest {
 protected:
  ChangingCosine() : ChangingHnswTest(Metric::cosine) {}
};

TEST_F(ChangingCosine, ReturnsUnitVectors) {
  std::vector<float> row(12);
  row[0] = 3;
  row[1] = 4;
  changes::Receipt receipt;
  const VectorView rows = packed_view(row.data(), 1, 12, ElementType::f32);
  index_->check({rows, std::vector<std::uint64_t>{7}});
  index_->insert({rows, std::vector<std::uint64_t>{7}}, {}, receipt);
  const changes::FoundRows got = index_->get(std::vector<std::uint64_t>{7, 8}, {});
  EXPECT_EQ(got.found, (std::vector<bool>{true, false}));
  ASSERT_EQ(got.rows.size(), sizeof(float) * 12);
  std::memcpy(row.data(), got.rows.data(), got.rows.size());
  EXPECT_FLOAT_EQ(row[0], 0.6f);
  EXPECT_FLOAT_EQ(row[1], 0.8f);
}

}  // namespace
}  // namespace farvec::paged
