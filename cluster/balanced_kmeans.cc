#include "cluster/balanced_kmeans.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/finite.h"
#include "base/parallel.h"
#include "base/random.h"

namespace farvec::cluster {
namespace {

constexpr std::size_t kChunk = 2048;
/// The first centres are chosen among this many points per part.
constexpr std::size_t kSeedsPerPart = 128;
/// Iterations end when fewer than one in this many points change their part.
constexpr std::uint64_t kStillPoints = 500;

}  // namespace

BalancedKmeans::BalancedKmeans(VectorView rows, std::span<const NodeId> points,
                               const SplitOptions& options)
    : rows_(rows),
      points_(points),
      options_(options),
      pair_(distance::pair_kernel(Metric::l2, ElementType::f32, rows.dimension)),
      many_(distance::many_kernel(Metric::l2, ElementType::f32, rows.dimension)),
      all_parts_(options.parts),
      nearest_(points.size()),
      regret_(points.size()) {
  FARVEC_CHECK(options.parts > 0 && options.parts <= points.size());
  FARVEC_CHECK(options.largest >= (points.size() + options.parts - 1) / options.parts);
  std::iota(all_parts_.begin(), all_parts_.end(), NodeId{0});
  split_.centers.resize(std::size_t{options.parts} * rows.dimension);
  split_.part_of.resize(points.size());
}

Split BalancedKmeans::run() {
  choose_centers();
  for (std::uint32_t i = 0; i < options_.iterations; ++i) {
    find_nearest();
    const std::uint64_t changed = allot();
    fill_empty_parts();
    move_centers();
    if (i > 0 && changed * kStillPoints <= points_.size()) break;
  }
  return std::move(split_);
}

void BalancedKmeans::set_center(std::size_t part, const float* values) {
  std::copy_n(values, rows_.dimension, &split_.centers[part * rows_.dimension]);
}

void BalancedKmeans::distances(std::size_t i, float* out) const {
  const VectorView centers =
      packed_view(split_.centers.data(), options_.parts, rows_.dimension, ElementType::f32);
  many_(point(i), centers, all_parts_, out);
}

/// k-means++ (Arthur and Vassilvitskii, SODA 2007) over evenly spaced points.
void BalancedKmeans::choose_centers() {
  Random random(options_.seed);
  const std::size_t count = std::min(points_.size(), kSeedsPerPart * options_.parts);
  auto candidate = [&](std::size_t c) { return point(c * points_.size() / count); };
  std::vector<float> nearest(count, std::numeric_limits<float>::infinity());
  std::size_t chosen = random.below(count);
  for (std::uint32_t part = 0; part < options_.parts; ++part) {
    set_center(part, candidate(chosen));
    double total = 0;
    for (std::size_t c = 0; c < count; ++c) {
      nearest[c] = std::min(nearest[c], pair_(center(part), candidate(c), rows_.dimension));
      total += static_cast<double>(nearest[c]);
    }
    double threshold = random.uniform() * total;
    chosen = total > 0 ? 0 : random.below(count);  // all candidates are already centres
    while (total > 0 && chosen + 1 < count) {
      threshold -= static_cast<double>(nearest[chosen]);
      if (threshold < 0) break;
      ++chosen;
    }
  }
}

void BalancedKmeans::find_nearest() {
  parallel_for(points_.size(), kChunk, options_.threads,
               [&](std::size_t begin, std::size_t end, unsigned) {
                 std::vector<float> d(options_.parts);
                 for (std::size_t i = begin; i < end; ++i) {
                   distances(i, d.data());
                   const auto best = std::min_element(d.begin(), d.end());
                   const float least = *best;
                   nearest_[i] = static_cast<std::uint32_t>(best - d.begin());
                   *best = std::numeric_limits<float>::infinity();
                   regret_[i] = orderable(*std::min_element(d.begin(), d.end()) - least);
                 }
               });
}

std::uint64_t BalancedKmeans::allot() {
  std::vector<std::uint32_t> parts = nearest_;
  split_.sizes.assign(options_.parts, 0);
  for (const std::uint32_t part : parts) ++split_.sizes[part];
  std::vector<float> d(options_.parts);
  for (const std::uint32_t i : displaced_points(parts)) {
    distances(i, d.data());
    std::uint32_t best = options_.parts;
    for (std::uint32_t part = 0; part < options_.parts; ++part) {
      if (split_.sizes[part] >= options_.largest) continue;
      if (best == options_.parts || d[part] < d[best]) best = part;
    }
    parts[i] = best;
    ++split_.sizes[best];
  }
  std::uint64_t changed = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) changed += parts[i] != split_.part_of[i] ? 1 : 0;
  split_.part_of = std::move(parts);
  return changed;
}

/// Returns the points of overfull parts that have to go elsewhere, those that lose most first.
/// Takes them out of the sizes.
std::vector<std::uint32_t> BalancedKmeans::displaced_points(std::vector<std::uint32_t>& parts) {
  std::vector<std::uint32_t> crowded;
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    if (split_.sizes[parts[i]] > options_.largest) crowded.push_back(i);
  }
  std::sort(crowded.begin(), crowded.end(), [&](std::uint32_t a, std::uint32_t b) {
    return regret_[a] != regret_[b] ? regret_[a] > regret_[b] : a < b;
  });
  std::vector<std::uint64_t> kept(options_.parts, 0);
  std::vector<std::uint32_t> displaced;
  for (const std::uint32_t i : crowded) {
    if (++kept[parts[i]] > options_.largest) displaced.push_back(i);
  }
  for (const std::uint32_t i : displaced) --split_.sizes[parts[i]];
  return displaced;
}

void BalancedKmeans::move_centers() {
  std::vector<std::vector<NodeId>> members(options_.parts);
  for (std::uint32_t part = 0; part < options_.parts; ++part) {
    members[part].reserve(split_.sizes[part]);
  }
  for (std::size_t i = 0; i < points_.size(); ++i) {
    members[split_.part_of[i]].push_back(points_[i]);
  }
  parallel_for(options_.parts, 1, options_.threads, [&](std::size_t part, std::size_t, unsigned) {
    write_mean(rows_, members[part], &split_.centers[part * rows_.dimension]);
  });
}

void BalancedKmeans::fill_empty_parts() {
  for (std::uint32_t part = 0; part < options_.parts; ++part) {
    if (split_.sizes[part] > 0) continue;
    const auto largest = static_cast<std::uint32_t>(
        std::max_element(split_.sizes.begin(), split_.sizes.end()) - split_.sizes.begin());
    const std::uint32_t moved = worst_point_of(largest);
    split_.part_of[moved] = part;
    --split_.sizes[largest];
    ++split_.sizes[part];
  }
}

std::uint32_t BalancedKmeans::worst_point_of(std::uint32_t part) const {
  std::uint32_t worst = 0;
  float distance = -1;
  for (std::uint32_t i = 0; i < split_.part_of.size(); ++i) {
    if (split_.part_of[i] != part) continue;
    const float d = pair_(center(part), point(i), rows_.dimension);
    if (d > distance) {
      distance = d;
      worst = i;
    }
  }
  return worst;
}

void write_mean(const VectorView& rows, std::span<const NodeId> points, float* mean) {
  std::vector<double> sum(rows.dimension, 0.0);
  for (const NodeId point : points) {
    const auto* row = reinterpret_cast<const float*>(rows.row(point));
    for (std::uint32_t d = 0; d < rows.dimension; ++d) sum[d] += static_cast<double>(row[d]);
  }
  for (std::uint32_t d = 0; d < rows.dimension; ++d) {
    mean[d] = static_cast<float>(sum[d] / static_cast<double>(points.size()));
  }
}

void write_nearest_to_mean(const VectorView& rows, std::span<const NodeId> points, float* nearest) {
  std::vector<float> mean(rows.dimension), distances(points.size());
  write_mean(rows, points, mean.data());
  distance::many_kernel(Metric::l2, ElementType::f32, rows.dimension)(mean.data(), rows, points,
                                                                      distances.data());
  const auto least = std::min_element(distances.begin(), distances.end()) - distances.begin();
  std::memcpy(nearest, rows.row(points[static_cast<std::size_t>(least)]), rows.row_bytes());
}

}  // namespace farvec::cluster
