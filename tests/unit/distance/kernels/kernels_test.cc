// Every kernel of every instruction set this processor has, against the oracle.
#include "distance/kernels/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/stored_form.h"
#include "distance/distance.h"
#include "distance/reference.h"
#include "tests/unit/distance/guarded_row.h"
#include "tests/unit/distance/named_tables.h"

namespace farvec::distance {
namespace {

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::f16, ElementType::u8,
                                  ElementType::i8};
constexpr Metric kMetrics[] = {Metric::l2, Metric::inner_product, Metric::cosine};

bool is_integer(ElementType type) {
  return type == ElementType::u8 || type == ElementType::i8;
}

std::vector<std::uint32_t> dimensions() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t d = 1; d <= 130; ++d) all.push_back(d);
  for (const std::uint32_t d : {255, 256, 257, 784, 1000, 1536, 4096, 7168, 16383, 16384}) {
    all.push_back(d);
  }
  return all;
}

void fill_random(std::byte* row, ElementType type, std::uint32_t dimension, Random& random) {
  std::vector<float> values(dimension);
  for (float& v : values) {
    const double low = type == ElementType::u8 ? 0 : -128;
    const double high = type == ElementType::i8 ? 127 : 255;
    v = static_cast<float>(low + random.uniform() * (high - low));
    if (!is_integer(type)) v = static_cast<float>(random.normal());
  }
  narrow(values.data(), type, dimension, row);
}

/// Integers exactly (as f32 rounds the exact sum); floats within the error of f32 sums.
void expect_close(float actual, const std::byte* a, const std::byte* b, Metric metric,
                  ElementType type, std::uint32_t d) {
  const double expected = reference::distance(metric, type, a, b, d);
  if (is_integer(type)) {
    EXPECT_EQ(actual, static_cast<float>(expected));
    return;
  }
  double magnitude = 1;
  for (std::uint32_t i = 0; i < d; ++i) {
    const double x = reference::element(a, type, i), y = reference::element(b, type, i);
    magnitude += metric == Metric::l2 ? (x - y) * (x - y) : std::abs(x * y);
  }
  EXPECT_NEAR(actual, expected, magnitude * 1e-6);
}

template <typename Body>
void for_all_kernels(std::uint32_t d, const Body& body) {
  for (const NamedTable& named : tables(d)) {
    for (const Metric metric : kMetrics) {
      for (const ElementType type : kTypes) {
        if (stored_type(metric, type) != type) continue;
        SCOPED_TRACE(testing::Message() << named.name << ' ' << to_string(metric) << ' '
                                        << to_string(type) << " dimension " << d);
        body(named.table, metric, type);
      }
    }
  }
}

TEST(Kernels, AgreeWithTheOracleAtTheEndOfMemory) {
  GuardedMemory left(kMaxDimension * 4 + 64), right(kMaxDimension * 4 + 64);
  Random random(1);
  for (const std::uint32_t d : dimensions()) {
    for_all_kernels(d, [&](const kernels::KernelTable& table, Metric metric, ElementType type) {
      std::byte* a = left.row(d * element_bytes(type));
      std::byte* b = right.row(d * element_bytes(type));
      fill_random(a, type, d, random);
      fill_random(b, type, d, random);
      expect_close(pair_of(table, metric, type)(a, b, d), a, b, metric, type, d);
    });
  }
}

TEST(Kernels, AgreeWithTheOracleAtAnyAlignment) {
  GuardedMemory left(kMaxDimension * 4 + 128), right(kMaxDimension * 4 + 128);
  Random random(2);
  for (const std::uint32_t d : {1u, 7u, 31u, 96u, 100u, 128u, 131u}) {
    std::vector<std::byte> values(d * 4);
    for_all_kernels(d, [&](const kernels::KernelTable& table, Metric metric, ElementType type) {
      const std::size_t bytes = d * element_bytes(type);
      for (std::size_t gap = 0; gap < 66; ++gap) {
        std::byte* a = left.row(bytes, gap);
        std::byte* b = right.row(bytes, 66 - gap);
        fill_random(values.data(), type, d, random);
        std::memcpy(a, values.data(), bytes);
        fill_random(values.data(), type, d, random);
        std::memcpy(b, values.data(), bytes);
        expect_close(pair_of(table, metric, type)(a, b, d), a, b, metric, type, d);
      }
    });
  }
}

/// Bytes around the row must not count, and the row must not be read beyond its stride either.
TEST(Kernels, IgnoreWhatLiesAroundTheRow) {
  std::vector<std::uint8_t> a(400, 255), b(400, 7);
  for (const std::uint32_t d : {1u, 5u, 63u, 65u, 97u, 129u}) {
    std::memset(a.data() + 100, 9, d);
    for (const NamedTable& named : tables(d)) {
      const PairKernel kernel = pair_of(named.table, Metric::l2, ElementType::u8);
      EXPECT_EQ(kernel(a.data() + 100, b.data() + 100, d), 4.0f * static_cast<float>(d))
          << named.name << ' ' << d;
    }
    std::memset(a.data(), 255, a.size());
  }
}

TEST(Kernels, ExtremeIntegersAreExact) {
  for (const std::uint32_t d : dimensions()) {
    std::vector<std::byte> low(d), high(d), mixed(d);
    for (const ElementType type : {ElementType::u8, ElementType::i8}) {
      const int lowest = type == ElementType::u8 ? 0x00 : 0x80;
      const int highest = type == ElementType::u8 ? 0xff : 0x7f;
      std::memset(low.data(), lowest, d);
      std::memset(high.data(), highest, d);
      for (std::uint32_t i = 0; i < d; ++i) mixed[i] = i % 2 == 0 ? low[i] : high[i];
      for (const NamedTable& named : tables(d)) {
        for (const Metric metric : {Metric::l2, Metric::inner_product}) {
          const PairKernel kernel = pair_of(named.table, metric, type);
          for (const auto* a : {&low, &high, &mixed}) {
            for (const auto* b : {&low, &high, &mixed}) {
              expect_close(kernel(a->data(), b->data(), d), a->data(), b->data(), metric, type, d);
            }
          }
        }
      }
    }
  }
}

TEST(Kernels, ManyGiveTheBitsOfPairs) {
  constexpr std::size_t kRows = 37;
  Random random(3);
  for (const std::uint32_t d : {1u, 3u, 16u, 96u, 100u, 127u, 128u, 784u}) {
    for_all_kernels(d, [&](const kernels::KernelTable& table, Metric metric, ElementType type) {
      const std::size_t stride = d * element_bytes(type) + 3;
      GuardedMemory memory(kRows * stride);
      std::byte* base = memory.row((kRows - 1) * stride + d * element_bytes(type));
      std::vector<std::byte> query(d * 4);
      fill_random(query.data(), type, d, random);
      std::vector<std::byte> values(d * 4);
      for (std::size_t i = 0; i < kRows; ++i) {
        fill_random(values.data(), type, d, random);
        std::memcpy(base + i * stride, values.data(), d * element_bytes(type));
      }
      const VectorView rows = {base, kRows, d, type, stride};
      for (const std::size_t count : {0u, 1u, 3u, 4u, 5u, 8u, 31u, 32u, 64u}) {
        std::vector<NodeId> ids(count);
        for (NodeId& id : ids) id = static_cast<NodeId>(random.below(kRows));
        if (count > 0) ids.back() = kRows - 1;
        std::vector<float> out(count + 1, -7.0f);
        many_of(table, metric, type)(query.data(), rows, ids, out.data());
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ(out[i], pair_of(table, metric, type)(query.data(), rows.row(ids[i]), d));
        }
        EXPECT_EQ(out[count], -7.0f);
      }
    });
  }
}

TEST(Kernels, NonFiniteValuesStayNonFinite) {
  for (const std::uint32_t d : {1u, 17u, 128u}) {
    std::vector<float> a(d, 1.0f), b(d, 2.0f);
    a[d - 1] = std::numeric_limits<float>::quiet_NaN();
    for (const NamedTable& named : tables(d)) {
      for (const Metric metric : kMetrics) {
        const PairKernel kernel = pair_of(named.table, metric, ElementType::f32);
        EXPECT_TRUE(std::isnan(kernel(a.data(), b.data(), d))) << named.name;
      }
    }
  }
}

TEST(Distance, GivesTheKernelsOfTheInstructionSet) {
  const std::vector<float> a = {1, 2, 3};
  const std::vector<float> b = {4, 6, 3};
  for (const Isa isa : available_isas()) {
    EXPECT_EQ(pair_kernel(Metric::l2, ElementType::f32, 3, isa)(a.data(), b.data(), 3), 25.0f);
    EXPECT_EQ(pair_kernel(Metric::cosine, ElementType::f32, 3, isa)(a.data(), b.data(), 3), -24.0f);
    const NodeId id = 0;
    float out = 0;
    many_kernel(Metric::inner_product, ElementType::f32, 3, isa)(
        a.data(), packed_view(b.data(), 1, 3, ElementType::f32), {&id, 1}, &out);
    EXPECT_EQ(out, -25.0f);
  }
}

TEST(Distance, RefusesWhatHasNoKernel) {
  EXPECT_THROW((void)pair_kernel(Metric::l2, ElementType::f32, 0), Error);
  EXPECT_THROW((void)pair_kernel(Metric::l2, ElementType::f32, kMaxBits + 1), Error);
  EXPECT_THROW((void)pair_kernel(Metric::cosine, ElementType::u8, 8), Error);
  EXPECT_THROW((void)many_kernel(Metric::cosine, ElementType::i8, 8), Error);
  for (const Isa isa : {Isa::neon, Isa::avx2, Isa::avx512}) {
    if (is_available(isa)) continue;
    EXPECT_THROW((void)pair_kernel(Metric::l2, ElementType::f32, 8, isa), Error);
  }
}

}  // namespace
}  // namespace farvec::distance
