#include "graph/build_space.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "base/stored_form.h"
#include "distance/small_kernels.h"

namespace farvec::graph {
namespace {

constexpr std::size_t kChunk = 4096;

Metric kernel_metric(Metric metric) {
  return stores_unit_vectors(metric) ? Metric::l2 : metric;
}

std::size_t chunks_of(std::size_t count) {
  return (count + kChunk - 1) / kChunk;
}

/// Sums per fixed chunk, then over chunks in order: the same mean for any number of threads.
std::vector<float> mean_row(const VectorView& data, unsigned threads) {
  const std::uint32_t dimension = data.dimension;
  std::vector<double> sums(chunks_of(data.count) * dimension, 0.0);
  parallel_for(data.count, kChunk, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    std::vector<float> row(dimension);
    double* sum = &sums[begin / kChunk * dimension];
    for (std::size_t i = begin; i < end; ++i) {
      distance::widen(data.row(i), data.type, dimension, row.data());
      for (std::uint32_t d = 0; d < dimension; ++d) sum[d] += static_cast<double>(row[d]);
    }
  });
  std::vector<float> mean(dimension);
  for (std::uint32_t d = 0; d < dimension; ++d) {
    double total = 0;
    for (std::size_t c = 0; c < chunks_of(data.count); ++c) total += sums[c * dimension + d];
    mean[d] = static_cast<float>(total / static_cast<double>(data.count));
  }
  return mean;
}

/// Says whether there are faster kernels for the rows.
bool are_small(const VectorView& data, Metric metric, unsigned threads) {
  if (!distance::may_be_small(metric, data.type)) return false;
  std::atomic<bool> all{true};
  parallel_for(data.count, kChunk, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end && all.load(std::memory_order_relaxed); ++i) {
      if (distance::is_small_row(data.row(i), data.type, data.dimension)) continue;
      all.store(false, std::memory_order_relaxed);
    }
  });
  return all;
}

/// Which rows are zero; empty when none is.
std::vector<bool> zero_rows(const VectorView& data, unsigned threads) {
  const std::vector<std::byte> zero(data.row_bytes());
  const Metric metric = data.type == ElementType::b1 ? Metric::hamming : Metric::l2;
  const auto length = distance::pair_kernel(metric, data.type, data.dimension);
  std::vector<std::vector<std::size_t>> found(chunks_of(data.count));
  parallel_for(data.count, kChunk, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i) {
      if (length(data.row(i), zero.data(), data.dimension) == 0) found[begin / kChunk].push_back(i);
    }
  });
  std::vector<bool> zeros;
  for (const auto& chunk : found) {
    if (!chunk.empty()) zeros.resize(data.count);
    for (const std::size_t row : chunk) zeros[row] = true;
  }
  return zeros;
}

}  // namespace

BuildSpace::BuildSpace(VectorView data, Metric metric, unsigned threads)
    : data_(data),
      kernel_(distance::pair_kernel(kernel_metric(metric), data.type, data.dimension)),
      many_(distance::many_kernel(kernel_metric(metric), data.type, data.dimension)),
      products_(metric == Metric::inner_product),
      sets_(metric == Metric::jaccard) {
  if (are_small(data, kernel_metric(metric), threads)) {
    kernel_ = distance::small_pair_kernel(kernel_metric(metric), data.type, data.dimension);
    many_ = distance::small_many_kernel(kernel_metric(metric), data.type, data.dimension);
  }
  if (stores_unit_vectors(metric) || sets_) zeros_ = zero_rows(data, threads);
  if (!products_ || data.count == 0) return;
  augmented_.resize(data.count);
  parallel_for(data.count, kChunk, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i) {
      augmented_[i] = -kernel_(data_.row(i), data_.row(i), data_.dimension);  // |x|^2 so far
    }
  });
  max_norm_squared_ = *std::max_element(augmented_.begin(), augmented_.end());
  for (float& value : augmented_) value = std::sqrt(std::max(max_norm_squared_ - value, 0.0f));
}

void BuildSpace::distances(NodeId a, const NodeId* ids, std::size_t count, float* out) const {
  many_(data_.row(a), data_, {ids, count}, out);
  if (zeros_.empty()) return;
  for (std::size_t i = 0; i < count; ++i) out[i] = beside_zeros(a, ids[i], out[i]);
}

NodeId BuildSpace::medoid(unsigned threads) const {
  const std::vector<float> mean = mean_row(data_, threads);
  const auto l2 = distance::pair_kernel(Metric::l2, ElementType::f32, data_.dimension);
  struct Best {
    float distance = std::numeric_limits<float>::infinity();
    NodeId id = 0;
  };
  std::vector<Best> best(chunks_of(data_.count));
  parallel_for(data_.count, kChunk, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    std::vector<float> row(data_.dimension);
    Best& mine = best[begin / kChunk];
    for (std::size_t i = begin; i < end; ++i) {
      distance::widen(data_.row(i), data_.type, data_.dimension, row.data());
      const float d = l2(mean.data(), row.data(), data_.dimension);
      if (d < mine.distance) mine = {d, static_cast<NodeId>(i)};
    }
  });
  const auto nearest = std::min_element(best.begin(), best.end(), [](const Best& a, const Best& b) {
    return a.distance < b.distance;
  });
  return nearest == best.end() ? kInvalidNode : nearest->id;
}

}  // namespace farvec::graph
