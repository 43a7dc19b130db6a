#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "quantization/rabitq.h"
#include "tests/unit/quantization/sample_data.h"

namespace farvec::quantization {
namespace {

constexpr Metric kMetrics[] = {Metric::l2, Metric::inner_product, Metric::cosine};

struct Estimates {
  std::vector<float> values, errors;
};

Estimates estimate_all(VectorView data, const Rabitq& rabitq, const void* query) {
  std::vector<std::byte> records(data.count * rabitq.record_bytes());
  rabitq.encode(data, records.data(), 1);
  RabitqQuery prepared;
  rabitq.prepare(query, prepared);
  std::vector<NodeId> ids(data.count);
  std::iota(ids.begin(), ids.end(), NodeId{0});
  Estimates result{std::vector<float>(data.count), std::vector<float>(data.count)};
  rabitq.estimate_with_error(prepared, records.data(), ids.data(), data.count, result.values.data(),
                             result.errors.data());
  return result;
}

VectorView view_of(const std::vector<float>& rows, std::uint32_t dimension) {
  return packed_view(rows.data(), rows.size() / dimension, dimension, ElementType::f32);
}

TEST(RabitqRecord, HasTheDocumentedSize) {
  EXPECT_EQ(Rabitq::record_bytes(128, 1), 20u);
  EXPECT_EQ(Rabitq::record_bytes(128, 2), 36u);
  EXPECT_EQ(Rabitq::record_bytes(128, 3), 64u) << "52, padded to a cache line";
  EXPECT_EQ(Rabitq::record_bytes(128, 4), 68u);
  EXPECT_EQ(Rabitq::record_bytes(128, 8), 132u);
  EXPECT_EQ(Rabitq::record_bytes(100, 2), 32u);
  EXPECT_EQ(Rabitq::record_bytes(1, 1), 8u);
  EXPECT_EQ(Rabitq::record_bytes(96, 2), 32u) << "28, padded to half a cache line";
  for (std::uint32_t d = 1; d <= 130; ++d) {
    for (std::uint32_t bits = 1; bits <= 8; ++bits)
      EXPECT_EQ(Rabitq::record_bytes(d, bits) % 4, 0u);
  }
}

TEST(RabitqRecord, IsZeroInItsPadding) {
  const std::vector<float> rows = sample_rows(3, 128, 5);
  const Rabitq rabitq(Rabitq::train(view_of(rows, 128), Metric::l2, 3, 1, 1));
  std::vector<std::byte> records(3 * rabitq.record_bytes(), std::byte{0xff});
  rabitq.encode(view_of(rows, 128), records.data(), 1);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t i = 52; i < 64; ++i) EXPECT_EQ(records[row * 64 + i], std::byte{0});
  }
}

TEST(RabitqEdges, EqualVectorsAreExact) {
  const std::vector<float> row = sample_rows(1, 37, 3), query = sample_rows(1, 37, 4);
  for (const std::size_t count : {1u, 50u}) {
    std::vector<float> rows;
    for (std::size_t i = 0; i < count; ++i) rows.insert(rows.end(), row.begin(), row.end());
    for (const Metric metric : kMetrics) {
      for (std::uint32_t bits = 1; bits <= 8; ++bits) {
        const Rabitq rabitq(Rabitq::train(view_of(rows, 37), metric, bits, 1, 1));
        const Estimates e = estimate_all(view_of(rows, 37), rabitq, query.data());
        const double exact = exact_distance(metric, row.data(), query.data(), 37);
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_NEAR(e.values[i], exact, 1e-4 * std::fabs(exact)) << "bits " << bits;
          EXPECT_GE(e.errors[i], 0);
        }
      }
    }
  }
}

TEST(RabitqEdges, DuplicatesOfTheCentroidAmongOthersAreExact) {
  std::vector<float> rows = sample_rows(100, 24, 5);
  for (std::size_t i = 0; i < 100 * 24; ++i) rows.push_back(-rows[i]);
  rows.resize(rows.size() + 3 * 24, 0.0f);
  const auto query = sample_rows(1, 24, 6);
  for (const Metric metric : {Metric::l2, Metric::inner_product}) {
    const Rabitq rabitq(Rabitq::train(view_of(rows, 24), metric, 2, 1, 1));
    const Estimates e = estimate_all(view_of(rows, 24), rabitq, query.data());
    for (std::size_t i = 200; i < 203; ++i) {
      const double exact = exact_distance(metric, rows.data() + i * 24, query.data(), 24);
      EXPECT_LE(std::fabs(e.values[i] - exact), e.errors[i] + 1e-3);
    }
  }
}

TEST(RabitqEdges, EveryDimensionGivesFiniteEstimatesWithinTheBoundMostly) {
  for (std::uint32_t d = 1; d <= 130; ++d) {
    const auto rows = sample_rows(60, d, d), query = sample_rows(1, d, 1000 + d);
    for (const std::uint32_t bits : {1u, 2u, 5u, 8u}) {
      const Rabitq rabitq(Rabitq::train(view_of(rows, d), Metric::l2, bits, 1, 1));
      const Estimates e = estimate_all(view_of(rows, d), rabitq, query.data());
      int inside = 0;
      for (std::size_t i = 0; i < 60; ++i) {
        const double exact = exact_distance(Metric::l2, rows.data() + i * d, query.data(), d);
        ASSERT_TRUE(std::isfinite(e.values[i]));
        inside += std::fabs(e.values[i] - exact) <= e.errors[i] + 1e-4 * (1 + exact);
      }
      // The bound's rate needs a few dimensions to rotate in; with one the code is exact.
      const int least = d == 1 ? 60 : d >= 8 ? 45 : 0;
      EXPECT_GE(inside, least) << "dimension " << d << ", bits " << bits;
    }
  }
}

template <typename T>
void check_integer_type(ElementType type, int lowest) {
  constexpr std::uint32_t kDimension = 100;
  Random random(9);
  std::vector<T> rows(300 * kDimension), query(kDimension);
  for (T& x : rows) x = static_cast<T>(static_cast<int>(random.below(256)) + lowest);
  for (T& x : query) x = static_cast<T>(static_cast<int>(random.below(256)) + lowest);
  const VectorView data = packed_view(rows.data(), 300, kDimension, type);
  const Rabitq rabitq(Rabitq::train(data, Metric::l2, 4, 1, 2));
  const Estimates e = estimate_all(data, rabitq, query.data());
  int inside = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    double exact = 0;
    for (std::uint32_t j = 0; j < kDimension; ++j) {
      exact += std::pow(double(rows[i * kDimension + j]) - double(query[j]), 2);
    }
    EXPECT_NEAR(e.values[i], exact, 0.05 * exact);
    inside += std::fabs(e.values[i] - exact) <= e.errors[i];
  }
  EXPECT_GE(inside, 270);
}

TEST(RabitqEdges, IntegerTypes) {
  check_integer_type<std::uint8_t>(ElementType::u8, 0);
  check_integer_type<std::int8_t>(ElementType::i8, -128);
}

TEST(RabitqEdges, ZeroQueryAndZeroCentroid) {
  std::vector<float> rows = sample_rows(40, 16, 5);
  for (std::size_t i = 0; i < 40 * 16; ++i) rows.push_back(-rows[i]);
  const std::vector<float> query(16, 0.0f);
  for (const Metric metric : kMetrics) {
    const Rabitq rabitq(Rabitq::train(view_of(rows, 16), metric, 2, 1, 1));
    const Estimates e = estimate_all(view_of(rows, 16), rabitq, query.data());
    for (std::size_t i = 0; i < 80; ++i) {
      const double exact = exact_distance(metric, rows.data() + i * 16, query.data(), 16);
      EXPECT_LE(std::fabs(e.values[i] - exact), e.errors[i] + 1e-2);
    }
  }
}

TEST(RabitqEdges, RowsBeyondTheTrainedRangesAreClamped) {
  const auto rows = sample_rows(100, 32, 1);
  auto far = rows;
  for (float& x : far) x *= 1000;
  const Rabitq rabitq(Rabitq::train(view_of(rows, 32), Metric::l2, 2, 1, 1));
  const Estimates e = estimate_all(view_of(far, 32), rabitq, rows.data());
  for (const float value : e.values) EXPECT_TRUE(std::isfinite(value));
}

TEST(RabitqEstimate, DoesNotDependOnTheBatch) {
  const auto rows = sample_rows(200, 100, 1);
  for (const std::uint32_t bits : {2u, 7u}) {
    const Rabitq rabitq(Rabitq::train(view_of(rows, 100), Metric::l2, bits, 1, 1));
    const Estimates all = estimate_all(view_of(rows, 100), rabitq, rows.data());
    std::vector<std::byte> records(200 * rabitq.record_bytes());
    rabitq.encode(view_of(rows, 100), records.data(), 1);
    RabitqQuery query;
    rabitq.prepare(rows.data(), query);
    Random random(3);
    for (const std::size_t count : {0u, 1u, 3u, 63u, 64u, 65u, 130u}) {
      std::vector<NodeId> ids(count);
      for (NodeId& id : ids) id = static_cast<NodeId>(random.below(200));
      std::vector<float> out(count + 1, -7.0f);
      rabitq.estimate(query, records.data(), ids.data(), count, out.data());
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(out[i], all.values[ids[i]]);
      EXPECT_EQ(out[count], -7.0f);
    }
  }
}

TEST(RabitqBuild, DoesNotDependOnTheThreads) {
  const auto rows = sample_rows(5000, 33, 1);
  const VectorView data = view_of(rows, 33);
  for (const Metric metric : kMetrics) {
    const RabitqParameters one = Rabitq::train(data, metric, 3, 7, 1);
    const RabitqParameters three = Rabitq::train(data, metric, 3, 7, 3);
    EXPECT_EQ(one.centroid, three.centroid);
    EXPECT_EQ(one.add_min, three.add_min);
    EXPECT_EQ(one.add_max, three.add_max);
    EXPECT_EQ(one.rescale_min, three.rescale_min);
    EXPECT_EQ(one.rescale_max, three.rescale_max);
    EXPECT_EQ(one.error_max, three.error_max);
    const Rabitq rabitq(one);
    std::vector<std::byte> a(5000 * rabitq.record_bytes()), b(a.size());
    rabitq.encode(data, a.data(), 1);
    rabitq.encode(data, b.data(), 3);
    EXPECT_EQ(a, b);
  }
}

TEST(RabitqBuild, RefusesWhatItCannotDo) {
  const auto rows = sample_rows(10, 8, 1);
  const VectorView data = view_of(rows, 8);
  EXPECT_THROW(Rabitq::train({nullptr, 0, 8, ElementType::f32, 32}, Metric::l2, 2, 1, 1), Error);
  EXPECT_THROW(Rabitq::train(data, Metric::l2, 9, 1, 1), Error);
  EXPECT_THROW(
      Rabitq::train({data.data, 1, kMaxDimension + 1, ElementType::f32, 0}, Metric::l2, 2, 1, 1),
      Error);
  RabitqParameters parameters = Rabitq::train(data, Metric::l2, 2, 1, 1);
  const Rabitq rabitq(parameters);
  std::vector<std::byte> records(10 * rabitq.record_bytes());
  EXPECT_THROW(rabitq.encode(view_of(rows, 4), records.data(), 1), Error);
  parameters.centroid.pop_back();
  EXPECT_THROW(Rabitq{parameters}, Error);
  parameters.centroid.push_back(0);
  parameters.add_min = parameters.add_max + 1;
  EXPECT_THROW(Rabitq{parameters}, Error);
  parameters.add_min = std::nanf("");
  EXPECT_THROW(Rabitq{parameters}, Error);
}

TEST(RabitqEdges, ARowThatIsTooLongStopsNoOtherRow) {
  // Refused at every door today; a log of an earlier version may hold one.
  std::vector<float> rows(3 * 16, 1.0f);
  std::fill(rows.begin() + 16, rows.begin() + 32, 1e19f);
  const VectorView data = view_of(rows, 16);
  for (const Metric metric : kMetrics) {
    const Rabitq rabitq(Rabitq::train(data, metric, 2, 1, 1));
    std::vector<std::byte> records(data.count * rabitq.record_bytes());
    rabitq.encode(data, records.data(), 1);
  }
  const VectorView alone = packed_view(rows.data() + 16, 1, 16, ElementType::f32);
  EXPECT_NO_THROW(Rabitq(Rabitq::train(alone, Metric::l2, 2, 1, 1)));
}

}  // namespace
}  // namespace farvec::quantization
