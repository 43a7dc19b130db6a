// Records that are the stored vectors themselves.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "distance/distance.h"
#include "quantization/neighbor_codes.h"
#include "quantization/rabitq.h"
#include "quantization/split_rabitq.h"
#include "tests/unit/quantization/sample_data.h"

namespace farvec::quantization {
namespace {

constexpr std::uint32_t kDimension = 37;
constexpr std::size_t kRows = 300;

/// Rows of the type, in stored form.
std::vector<std::byte> stored(ElementType type) {
  const std::vector<float> rows = sample_rows(kRows, kDimension, 3);
  std::vector<std::byte> bytes(kRows * kDimension * element_bytes(type));
  for (std::size_t i = 0; i < kRows; ++i) {
    std::vector<float> row(rows.begin() + static_cast<std::ptrdiff_t>(i * kDimension),
                           rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * kDimension));
    for (float& value : row) value *= 20;
    distance::narrow(row.data(), type, kDimension,
                     bytes.data() + i * kDimension * element_bytes(type));
  }
  return bytes;
}

void expect_exact(Metric metric, ElementType type) {
  const std::vector<std::byte> bytes = stored(type);
  const VectorView view = packed_view(bytes.data(), kRows, kDimension, type);
  const Rabitq whole(Rabitq::train(view, metric, kWholeVectors, 1, 2));
  ASSERT_EQ(whole.record_bytes(), view.row_bytes());
  std::vector<std::byte> records(kRows * whole.record_bytes());
  whole.encode(view, records.data(), 2);
  EXPECT_EQ(std::memcmp(records.data(), bytes.data(), bytes.size()), 0);

  RabitqQuery query;
  std::vector<NodeId> ids(kRows);
  std::iota(ids.rbegin(), ids.rend(), NodeId{0});
  std::vector<float> out(kRows), error(kRows, 1), plain(kRows);
  whole.prepare(view.row(7), query);
  whole.prefetch_record(records.data(), 7);
  whole.estimate(query, records.data(), ids.data(), kRows, plain.data());
  whole.estimate_with_error(query, records.data(), ids.data(), kRows, out.data(), error.data());
  const distance::PairKernel pair = distance::pair_kernel(metric, type, kDimension);
  for (std::size_t i = 0; i < kRows; ++i) {
    EXPECT_EQ(out[i], pair(view.row(7), view.row(ids[i]), kDimension));
    EXPECT_EQ(plain[i], out[i]);
    EXPECT_EQ(error[i], 0);
  }
}

TEST(RabitqWhole, EstimatesAreTheDistances) {
  for (const ElementType type :
       {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
    expect_exact(Metric::l2, type);
    expect_exact(Metric::inner_product, type);
  }
  expect_exact(Metric::cosine, ElementType::f32);
  expect_exact(Metric::cosine, ElementType::f16);
}

TEST(RabitqWhole, OtherCodesAreNeverWholeVectors) {
  const std::vector<std::byte> bytes = stored(ElementType::f32);
  const VectorView view = packed_view(bytes.data(), kRows, kDimension, ElementType::f32);
  const RabitqParameters whole = Rabitq::train(view, Metric::l2, kWholeVectors, 1, 1);
  EXPECT_THROW(NeighborCodes{whole}, Error);
  EXPECT_THROW(SplitRabitq({whole, whole}), Error);
}

}  // namespace
}  // namespace farvec::quantization
