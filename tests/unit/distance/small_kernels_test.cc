// Kernels of small elements have the bits of the oracle, at any dimension and place.
#include "distance/small_kernels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/random.h"
#include "distance/reference.h"
#include "tests/unit/distance/guarded_row.h"

namespace farvec::distance {
namespace {

struct Small {
  Metric metric;
  ElementType type;
  int least;
};
constexpr Small kSmall[] = {{Metric::l2, ElementType::u8, 0},
                            {Metric::inner_product, ElementType::i8, -127}};

/// One element in four is an extreme one.
void fill(std::byte* row, std::uint32_t dimension, const Small& small, Random& random) {
  for (std::uint32_t i = 0; i < dimension; ++i) {
    const std::uint64_t kind = random.below(8);
    int value = small.least + static_cast<int>(random.below(128 - small.least));
    if (kind == 0) value = small.least;
    if (kind == 1) value = 127;
    row[i] = static_cast<std::byte>(value);
  }
}

TEST(SmallKernels, AgreeWithTheOracleAtTheEndOfMemory) {
  constexpr std::uint32_t kRows = 7;
  GuardedMemory queries(kMaxDimension + 64), rows(kRows * (kMaxDimension + 64));
  Random random(1);
  for (const Isa isa : available_isas()) {
    for (const Small& small : kSmall) {
      for (const std::uint32_t d : {1,  2,  15, 16,  17,  31,  32,  33,  47,   48,   63,
                                    64, 65, 96, 100, 127, 128, 129, 768, 1000, 16384}) {
        SCOPED_TRACE(testing::Message()
                     << to_string(isa) << ' ' << to_string(small.type) << ' ' << d);
        std::byte* const query = queries.row(d);
        std::byte* const first = rows.row(std::size_t{kRows} * d);
        fill(query, d, small, random);
        std::vector<NodeId> ids;
        for (std::uint32_t i = 0; i < kRows; ++i) {
          fill(first + i * d, d, small, random);
          ids.push_back(kRows - 1 - i);
        }
        const VectorView view = packed_view(first, kRows, d, small.type);
        std::vector<float> all(kRows);
        small_many_kernel(small.metric, small.type, d, isa)(query, view, ids, all.data());
        const PairKernel pair = small_pair_kernel(small.metric, small.type, d, isa);
        for (std::uint32_t i = 0; i < kRows; ++i) {
          const auto expected = static_cast<float>(
              reference::distance(small.metric, small.type, query, first + ids[i] * d, d));
          EXPECT_EQ(all[i], expected);
          EXPECT_EQ(pair(query, first + ids[i] * d, d), expected);
        }
      }
    }
  }
}

TEST(SmallKernels, ExtremesAreExact) {
  for (const Isa isa : available_isas()) {
    for (const std::uint32_t d : {1u, 32u, 33u, 16384u}) {
      const std::vector<std::int8_t> low(d, -127), high(d, 127), zero(d, 0);
      const auto product = small_pair_kernel(Metric::inner_product, ElementType::i8, d, isa);
      EXPECT_EQ(product(low.data(), high.data(), d), 127.0f * 127 * static_cast<float>(d));
      EXPECT_EQ(product(low.data(), low.data(), d), -127.0f * 127 * static_cast<float>(d));
      const auto l2 = small_pair_kernel(Metric::l2, ElementType::u8, d, isa);
      EXPECT_EQ(l2(zero.data(), high.data(), d), 127.0f * 127 * static_cast<float>(d));
    }
  }
}

TEST(SmallKernels, OtherTypesHaveTheUsualKernels) {
  EXPECT_EQ(small_pair_kernel(Metric::l2, ElementType::f32, 100),
            pair_kernel(Metric::l2, ElementType::f32, 100));
  EXPECT_EQ(small_many_kernel(Metric::l2, ElementType::i8, 100),
            many_kernel(Metric::l2, ElementType::i8, 100));
  EXPECT_FALSE(may_be_small(Metric::l2, ElementType::i8));
  EXPECT_FALSE(may_be_small(Metric::inner_product, ElementType::u8));
}

TEST(SmallKernels, RowsAreSmallWhereEachElementIs) {
  for (const std::uint32_t d : {1u, 31u, 32u, 100u}) {
    for (std::uint32_t at = 0; at < d; ++at) {
      std::vector<std::uint8_t> row(d, 127);
      EXPECT_TRUE(is_small_row(row.data(), ElementType::u8, d));
      row[at] = 128;
      EXPECT_FALSE(is_small_row(row.data(), ElementType::u8, d));
      EXPECT_FALSE(is_small_row(row.data(), ElementType::i8, d));
      row[at] = 129;  // -127
      EXPECT_FALSE(is_small_row(row.data(), ElementType::u8, d));
      EXPECT_TRUE(is_small_row(row.data(), ElementType::i8, d));
    }
  }
}

}  // namespace
}  // namespace farvec::distance
