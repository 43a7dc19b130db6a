#include "layout/index/cut_points.h"

#include <algorithm>

namespace farvec::layout {
namespace {

/// The smallest i below `count` for which begin(i) >= offset; `count` when there is none.
template <typename Begin>
std::size_t first_at(std::size_t count, std::uint64_t offset, const Begin& begin) {
  std::size_t low = 0;
  std::size_t high = count;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (begin(middle) < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

std::uint64_t CutPoints::largest_piece() const {
  return graph_ != nullptr ? graph_->geometry().max_record_bytes()
                           : std::max<std::uint64_t>(clusters_->max_cluster_bytes(),
                                                     clusters_->geometry().block_bytes);
}

std::uint64_t CutPoints::at_or_after(std::uint64_t offset) const {
  return graph_ != nullptr ? graph_cut(offset) : cluster_cut(offset);
}

std::uint64_t CutPoints::graph_cut(std::uint64_t offset) const {
  const std::size_t count = graph_->geometry().count;
  return graph_->begin_of(
      first_at(count, offset, [this](std::size_t v) { return graph_->begin_of(v); }));
}

/// The place among the records where a cluster's bytes begin.
std::uint64_t CutPoints::begin_of_cluster(ClusterId cluster) const {
  const ByteRange whole = clusters_->whole(cluster);
  return whole.bytes > 0 ? whole.offset : clusters_->entry(cluster).group_offset;
}

std::uint64_t CutPoints::cluster_cut(std::uint64_t offset) const {
  const ClusterGeometry& geometry = clusters_->geometry();
  const std::uint64_t lists =
      geometry.lists_apart() ? clusters_->entry(0).list_offset : region_bytes();
  if (offset > lists) {
    const std::size_t cluster = first_at(geometry.clusters, offset, [this](std::size_t c) {
      return clusters_->entry(static_cast<ClusterId>(c)).list_offset;
    });
    return cluster < geometry.clusters
               ? clusters_->entry(static_cast<ClusterId>(cluster)).list_offset
               : region_bytes();
  }
  if (geometry.kind == ClusterLayoutKind::decoupled) {
    const std::uint64_t record = geometry.record_bytes();
    const std::uint64_t before = std::max(offset, kRegionHeaderBytes) - kRegionHeaderBytes;
    return std::min(kRegionHeaderBytes + (before + record - 1) / record * record, lists);
  }
  const std::size_t cluster = first_at(geometry.clusters, offset, [this](std::size_t c) {
    return begin_of_cluster(static_cast<ClusterId>(c));
  });
  return cluster < geometry.clusters ? begin_of_cluster(static_cast<ClusterId>(cluster)) : lists;
}

}  // namespace farvec::layout
