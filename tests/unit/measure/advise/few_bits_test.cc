#include "measure/advise/few_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "indexing/source.h"

namespace farvec::measure {
namespace {

constexpr std::uint32_t kElementsOfRow = 33;
constexpr std::size_t kRowsOfSample = 400;
constexpr std::size_t kAskedQueries = 9;
constexpr std::uint32_t kTrueNeighbours = 3;

dataset::VectorSet rows_around(std::uint64_t seed, std::size_t count, float middle) {
  Random random(seed);
  dataset::VectorSet rows(count, kElementsOfRow, ElementType::f32);
  for (std::size_t i = 0; i < count; ++i) {
    auto* const row = reinterpret_cast<float*>(rows.mutable_row(i));
    for (std::uint32_t d = 0; d < kElementsOfRow; ++d) {
      row[d] = middle + static_cast<float>(random.normal());
    }
  }
  return rows;
}

struct FewBitsData {
  explicit FewBitsData(float middle, Metric metric = Metric::l2)
      : queries(indexing::stored_copy(rows_around(2, kAskedQueries, middle).view(), metric, 1)),
        sample(make_sample(rows_around(1, kRowsOfSample, middle), queries.view(),
                           {metric, kTrueNeighbours, 1})) {}
  dataset::VectorSet queries;
  Sample sample;
};

std::vector<FewBits> tried(const FewBitsData& data) {
  return try_few_bits(data.sample, data.queries.view(), {.k = kTrueNeighbours, .threads = 2});
}

/// Finds the recall of signs by Hamming distance with plain loops.
double recall_of_signs(const FewBitsData& data, std::uint32_t refine) {
  std::size_t found = 0;
  for (std::size_t q = 0; q < kAskedQueries; ++q) {
    const auto* const query = reinterpret_cast<const float*>(data.queries.view().row(q));
    std::vector<std::pair<int, NodeId>> near;
    for (NodeId row = 0; row < kRowsOfSample; ++row) {
      const auto* const values = reinterpret_cast<const float*>(data.sample.rows.view().row(row));
      int differ = 0;
      for (std::uint32_t d = 0; d < kElementsOfRow; ++d)
        differ += (query[d] > 0) != (values[d] > 0);
      near.emplace_back(differ, row);
    }
    std::sort(near.begin(), near.end());
    near.resize(std::min<std::size_t>(refine * kTrueNeighbours, kRowsOfSample));
    for (std::uint32_t i = 0; i < kTrueNeighbours; ++i) {
      const NodeId wanted = data.sample.truth.ids[q * kTrueNeighbours + i];
      found += std::ranges::count(near, wanted, &std::pair<int, NodeId>::second) > 0 ? 1 : 0;
    }
  }
  return static_cast<double>(found) / (kAskedQueries * kTrueNeighbours);
}

TEST(FewBits, RecallIsThatOfAPlainLoop) {
  for (const Metric metric : {Metric::l2, Metric::cosine}) {
    const FewBitsData data(0, metric);
    const std::vector<FewBits> all = tried(data);
    ASSERT_EQ(all.size(), 8u);
    EXPECT_EQ(to_string(all[0].wish), "b1 by sign, hamming");
    EXPECT_EQ(all[0].vector_bytes, 5u);
    for (std::size_t i = 0; i < kRefines.size(); ++i) {
      EXPECT_DOUBLE_EQ(all[0].recall[i], recall_of_signs(data, kRefines[i])) << kRefines[i];
    }
    EXPECT_EQ(to_string(all[7].wish), "f16");
    EXPECT_GT(all[7].recall[0], 0.95);
  }
}

TEST(FewBits, SignsOfDataThatIsAllPositiveAreNotEnough) {
  const FewBitsData data(100);
  const std::vector<FewBits> all = tried(data);
  for (const FewBits& one : all) {
    const bool signs = one.wish.type == ElementType::b1 && one.wish.rule == BitRule::sign;
    if (signs) {
      EXPECT_FALSE(one.enough(0.9)) << to_string(one.wish);
    }
  }
  EXPECT_FALSE(choose_few_bits(all, 1.01));
}

TEST(FewBits, TheFewestBytesThatAreEnoughAreChosen) {
  std::vector<FewBits> all(3);
  all[0].vector_bytes = 8;
  all[0].recall = {0.1, 0.2, 0.3, 0.5, 0.96, 0.99};
  all[1].vector_bytes = 8;
  all[1].recall = {0.1, 0.2, 0.3, 0.97, 0.98, 0.99};
  all[2].vector_bytes = 64;
  all[2].recall = {1, 1, 1, 1, 1, 1};
  EXPECT_EQ(all[0].enough(0.95), 16u);
  EXPECT_EQ(choose_few_bits(all, 0.95), 1u);
  EXPECT_EQ(choose_few_bits(all, 0.995), 2u);
  EXPECT_EQ(all[1].enough(0.995), std::nullopt);
  EXPECT_EQ(choose_few_bits({}, 0.5), std::nullopt);
}

TEST(FewBits, WordsAreThoseOfTheBuild) {
  indexing::ReductionWish wish;
  wish.rule = BitRule::median;
  wish.bits_metric = Metric::jaccard;
  EXPECT_EQ(store_options(wish), "--store b1 --by median --bits-metric jaccard");
  wish.type = ElementType::i8;
  EXPECT_EQ(store_options(wish), "--store i8");
}

TEST(FewBits, BytesHaveBitsAloneAndBitsHaveNothing) {
  dataset::VectorSet bytes(200, 4, ElementType::u8);
  Random random(3);
  for (std::size_t i = 0; i < 200; ++i) {
    for (int d = 0; d < 4; ++d) bytes.mutable_row(i)[d] = static_cast<std::byte>(random.below(256));
  }
  const VectorView queries = bytes.view().part(0, 5);
  dataset::VectorSet copy(200, 4, ElementType::u8);
  std::copy_n(bytes.view().data, 800, copy.mutable_row(0));
  const Sample sample = make_sample(std::move(copy), queries, {Metric::l2, 2, 1});
  const std::vector<FewBits> all = try_few_bits(sample, queries, {.k = 2, .threads = 1});
  EXPECT_EQ(all.size(), 6u);
}

}  // namespace
}  // namespace farvec::measure
