// Every kernel for bits, of every instruction set this processor has, against the oracle. Distances
// are the float next to the exact one, so that nothing but the same bits will do.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "distance/distance.h"
#include "distance/reference.h"
#include "tests/unit/distance/guarded_row.h"
#include "tests/unit/distance/named_tables.h"

namespace farvec::distance {
namespace {

constexpr Metric kBitMetrics[] = {Metric::hamming, Metric::jaccard};

std::size_t bytes_of(std::uint32_t dimension) {
  return packed_bytes(ElementType::b1, dimension);
}

/// Every dimension up to 1,100, and large ones around those at which kernels begin another block.
std::vector<std::uint32_t> bit_dimensions() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t d = 1; d <= 1100; ++d) all.push_back(d);
  for (const std::uint32_t block : {16u, 32u, 64u}) {
    for (const std::uint32_t vectors : {29u, 30u, 31u, 32u, 60u, 61u}) {
      for (const std::uint32_t more : {0u, 1u, 8u, 127u}) {
        all.push_back(vectors * block * 8 + more);
      }
    }
  }
  for (const std::uint32_t d : {1535, 1536, 1537, 2047, 3072, 4097, 16384, 16385, 50001}) {
    all.push_back(d);
  }
  for (std::uint32_t d = kMaxBits - 9; d <= kMaxBits; ++d) all.push_back(d);
  return all;
}

/// The tables for a dimension, and the kernels for any dimension.
std::vector<NamedTable> bit_tables(std::uint32_t dimension) {
  std::vector<NamedTable> all = tables(dimension);
  for (NamedTable& any : tables(0)) all.push_back({any.name + " for any", any.table});
  return all;
}

/// One bit in `one_in` is set; the bits after the last element are 0.
void fill_bits(std::byte* row, std::uint32_t dimension, std::uint64_t one_in, Random& random) {
  std::memset(row, 0, bytes_of(dimension));
  for (std::uint32_t i = 0; i < dimension; ++i) {
    if (random.below(one_in) == 0) row[i / 8] |= std::byte{1} << (i % 8);
  }
}

void expect_distances(const std::byte* a, const std::byte* b, std::uint32_t d) {
  for (const Metric metric : kBitMetrics) {
    const auto expected = static_cast<float>(reference::distance(metric, ElementType::b1, a, b, d));
    for (const NamedTable& named : bit_tables(d)) {
      ASSERT_EQ(pair_of(named.table, metric, ElementType::b1)(a, b, d), expected)
          << named.name << ' ' << to_string(metric) << " dimension " << d;
    }
  }
}

TEST(BitKernels, AgreeWithTheOracleAtBothEndsOfMemory) {
  GuardedMemory left(kMaxBits / 8), right(kMaxBits / 8);
  Random random(1);
  for (const std::uint32_t d : bit_dimensions()) {
    std::memset(left.begin(), 0xff, left.size());
    std::memset(right.begin(), 0xff, right.size());
    const std::uint64_t one_in = 1 + random.below(8);
    fill_bits(left.row(bytes_of(d)), d, one_in, random);
    fill_bits(right.row(bytes_of(d)), d, one_in, random);
    ASSERT_NO_FATAL_FAILURE(expect_distances(left.row(bytes_of(d)), right.row(bytes_of(d)), d));
    fill_bits(left.begin(), d, one_in, random);
    fill_bits(right.begin(), d, 2, random);
    ASSERT_NO_FATAL_FAILURE(expect_distances(left.begin(), right.begin(), d));
  }
}

TEST(BitKernels, AgreeWithTheOracleAtAnyAlignment) {
  GuardedMemory left(4096), right(4096);
  std::memset(left.begin(), 0xff, left.size());
  std::memset(right.begin(), 0xff, right.size());
  Random random(2);
  for (const std::uint32_t d : {1u, 17u, 63u, 65u, 128u, 250u, 256u, 333u, 512u, 768u, 1030u}) {
    for (std::size_t gap = 0; gap < 66; ++gap) {
      std::byte* a = left.row(bytes_of(d), gap);
      std::byte* b = right.row(bytes_of(d), 66 - gap);
      fill_bits(a, d, 2, random);
      fill_bits(b, d, 3, random);
      ASSERT_NO_FATAL_FAILURE(expect_distances(a, b, d));
      std::memset(a, 0xff, bytes_of(d));
      std::memset(b, 0xff, bytes_of(d));
    }
  }
}

/// No bit, every bit, and every bit in one of the two: the most that any count can be.
TEST(BitKernels, ExtremesAreExact) {
  for (const std::uint32_t d : bit_dimensions()) {
    std::vector<std::byte> none(bytes_of(d)), all(bytes_of(d));
    Random random(3);
    fill_bits(all.data(), d, 1, random);
    for (const auto& [a, b, differ, jaccard] :
         {std::tuple{&none, &none, 0u, 1.0f}, std::tuple{&all, &all, 0u, 0.0f},
          std::tuple{&none, &all, d, 1.0f}, std::tuple{&all, &none, d, 1.0f}}) {
      for (const NamedTable& named : bit_tables(d)) {
        const auto pair = [&](Metric metric) {
          return pair_of(named.table, metric, ElementType::b1)(a->data(), b->data(), d);
        };
        ASSERT_EQ(pair(Metric::hamming), static_cast<float>(differ)) << named.name << ' ' << d;
        ASSERT_EQ(pair(Metric::jaccard), jaccard) << named.name << ' ' << d;
      }
    }
  }
}

/// Rows in guarded memory with a gap between them, some without any bit; the last ends it.
class BitRows {
 public:
  BitRows(std::size_t count, std::uint32_t dimension, Random& random)
      : memory_(count * (bytes_of(dimension) + 3)) {
    const std::size_t stride = bytes_of(dimension) + 3;
    std::byte* base = memory_.row(count * stride - 3);
    std::memset(base, 0xff, count * stride - 3);
    for (std::size_t i = 0; i < count; ++i) {
      fill_bits(base + i * stride, dimension, i % 5 == 0 ? ~0ull : 1 + i % 7, random);
    }
    view_ = {base, count, dimension, ElementType::b1, stride};
  }
  const VectorView& view() const { return view_; }

 private:
  GuardedMemory memory_;
  VectorView view_;
};

TEST(BitKernels, ManyGiveTheBitsOfPairs) {
  Random random(4);
  for (const std::uint32_t d : bit_dimensions()) {
    if (d > 600 && d % 16 > 1 && d < kMaxBits - 9) continue;
    const BitRows rows(37, d, random);
    std::vector<std::byte> query(bytes_of(d));
    for (const std::uint64_t one_in : {2ull, ~0ull}) {
      fill_bits(query.data(), d, one_in, random);
      for (const std::size_t count : {0u, 1u, 3u, 4u, 7u, 64u}) {
        std::vector<NodeId> ids(count);
        for (NodeId& id : ids) id = static_cast<NodeId>(random.below(37));
        if (count > 0) ids.back() = 36;
        for (const NamedTable& named : bit_tables(d)) {
          for (const Metric metric : kBitMetrics) {
            std::vector<float> out(count + 1, -7.0f);
            many_of(named.table, metric, ElementType::b1)(query.data(), rows.view(), ids,
                                                          out.data());
            const PairKernel pair = pair_of(named.table, metric, ElementType::b1);
            for (std::size_t i = 0; i < count; ++i) {
              ASSERT_EQ(out[i], pair(query.data(), rows.view().row(ids[i]), d))
                  << named.name << ' ' << to_string(metric) << ' ' << d << ' ' << i;
            }
            ASSERT_EQ(out[count], -7.0f) << named.name;
          }
        }
      }
    }
  }
}

TEST(BitKernels, AreChosenByMetricAndType) {
  const std::uint8_t a[] = {0b0000'0111, 0b1}, b[] = {0b0000'0110, 0b0};
  for (const Isa isa : available_isas()) {
    EXPECT_EQ(pair_kernel(Metric::hamming, ElementType::b1, 9, isa)(a, b, 9), 2.0f);
    EXPECT_EQ(pair_kernel(Metric::jaccard, ElementType::b1, 9, isa)(a, b, 9), 0.5f);
  }
  EXPECT_THROW((void)pair_kernel(Metric::hamming, ElementType::b1, 0), Error);
  EXPECT_THROW((void)pair_kernel(Metric::hamming, ElementType::b1, kMaxBits + 1), Error);
  EXPECT_THROW((void)pair_kernel(Metric::l2, ElementType::b1, 8), Error);
  EXPECT_THROW((void)many_kernel(Metric::hamming, ElementType::u8, 8), Error);
  EXPECT_THROW((void)many_kernel(Metric::jaccard, ElementType::f32, 8), Error);
}

}  // namespace
}  // namespace farvec::distance
