#include "cluster/space.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "distance/distance.h"

namespace farvec::cluster {
namespace {

constexpr std::size_t kRowsChunk = 4096;

double squared_norm(const float* row, std::uint32_t dimension) {
  double sum = 0;
  for (std::uint32_t d = 0; d < dimension; ++d) {
    sum += static_cast<double>(row[d]) * static_cast<double>(row[d]);
  }
  return sum;
}

double largest_squared_norm(const VectorView& data, unsigned threads) {
  std::vector<double> largest(threads, 0.0);
  parallel_for(data.count, kRowsChunk, threads,
               [&](std::size_t begin, std::size_t end, unsigned w) {
                 std::vector<float> row(data.dimension);
                 for (std::size_t i = begin; i < end; ++i) {
                   distance::widen(data.row(i), data.type, data.dimension, row.data());
                   largest[w] = std::max(largest[w], squared_norm(row.data(), data.dimension));
                 }
               });
  return *std::max_element(largest.begin(), largest.end());
}

}  // namespace

Space::Space(VectorView data, Metric metric, unsigned threads)
    : Space(data, metric,
            Reach{metric == Metric::inner_product ? largest_squared_norm(data, threads) : 0.0}) {}

Space::Space(VectorView data, Metric metric, Reach reach)
    : data_(data),
      dimension_(data.dimension),
      largest_norm2_(reach.largest_norm2),
      unit_(metric == Metric::jaccard) {
  if (metric != Metric::inner_product) return;
  if (data.dimension >= kMaxDimension) {
    throw Error("clusters under inner product take vectors of at most {} dimensions, not {}",
                kMaxDimension - 1, data.dimension);
  }
  ++dimension_;
}

void scale_to_unit(std::span<float> point) {
  const double norm2 = squared_norm(point.data(), static_cast<std::uint32_t>(point.size()));
  if (norm2 <= 0) return;
  const auto scale = static_cast<float>(1 / std::sqrt(norm2));
  for (float& value : point) value *= scale;
}

void Space::row(std::size_t i, float* out) const {
  distance::widen(data_.row(i), data_.type, data_.dimension, out);
  if (unit_) scale_to_unit({out, dimension_});
  if (dimension_ == data_.dimension) return;
  const double rest = largest_norm2_ - squared_norm(out, data_.dimension);
  out[data_.dimension] = static_cast<float>(std::sqrt(std::max(rest, 0.0)));
}

void Space::round(std::span<float> points) const {
  std::vector<std::byte> element(data_.row_bytes());
  for (std::size_t at = 0; at + dimension_ <= points.size(); at += dimension_) {
    distance::narrow(&points[at], data_.type, data_.dimension, element.data());
    distance::widen(element.data(), data_.type, data_.dimension, &points[at]);
  }
}

}  // namespace farvec::cluster
