#include "layout/index/placement.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/error.h"
#include "layout/index/file_placement.h"

namespace farvec::layout {
namespace {

constexpr std::uint64_t kMostExtentBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kLeastExtentBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kExtentsPerNode = 16;
constexpr std::uint64_t kMaxExtents = 1u << 20;

/// The places where a region's extents begin.
using Begins = std::vector<std::uint64_t>;

/// Cuts what lies from `payload` on. The first extent has what is before it, too.
Begins cut(std::uint64_t payload, std::uint64_t region_bytes, std::uint64_t extent_bytes) {
  Begins begins = {0};
  for (std::uint64_t begin = payload + extent_bytes; begin < region_bytes; begin += extent_bytes) {
    begins.push_back(begin);
  }
  return begins;
}

/// Cuts at the first place on or after each multiple of extent_bytes that no read crosses.
Begins cut_at(const CutPoints& cuts, std::uint64_t extent_bytes) {
  Begins begins = {0};
  for (std::uint64_t begin : cut(kRegionHeaderBytes, cuts.region_bytes(), extent_bytes)) {
    const std::uint64_t at = cuts.at_or_after(begin);
    if (begin > 0 && at > begins.back() && at < cuts.region_bytes()) begins.push_back(at);
  }
  return begins;
}

std::vector<PlacedExtent> spread(const Begins& begins, std::uint64_t region_bytes,
                                 const PlacementOptions& options) {
  std::vector<std::uint64_t> filled(options.nodes, kRegionHeaderBytes);
  std::vector<PlacedExtent> extents;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::uint64_t end = i + 1 < begins.size() ? begins[i + 1] : region_bytes;
    PlacedExtent extent;
    extent.begin = begins[i];
    extent.copy_count = options.replicas;
    const auto first = static_cast<std::uint32_t>(i % options.nodes);
    for (std::uint32_t r = 0; r < options.replicas; ++r) {
      const std::uint32_t step =
          r == 0 ? 0
                 : 1 + static_cast<std::uint32_t>((i / options.nodes + r) % (options.nodes - 1));
      const std::uint32_t node = (first + step) % options.nodes;
      extent.copies[r] = {node, i == 0 ? 0 : filled[node]};
      filled[node] = extent.copies[r].offset + (end - begins[i]);
    }
    extents.push_back(extent);
  }
  return extents;
}

/// Returns how long the extents of a region are by default.
std::uint64_t usual_extent_bytes(std::uint64_t region_bytes, std::uint32_t nodes) {
  const std::uint64_t wanted = region_bytes / (kExtentsPerNode * std::uint64_t{nodes});
  return std::clamp(round_up(wanted + 1, 4096), kLeastExtentBytes, kMostExtentBytes);
}

std::uint64_t choose_extent_bytes(const CutPoints& cuts, const PlacementOptions& options) {
  const std::uint64_t least = round_up(cuts.largest_piece(), 4096);
  if (options.extent_bytes == 0) {
    return std::max(least, usual_extent_bytes(cuts.region_bytes(), options.nodes));
  }
  if (options.extent_bytes < least) {
    throw Error(
        "extents of {} bytes are too small: one read of this index has up to {}, give at "
        "least {}",
        options.extent_bytes, cuts.largest_piece(), least);
  }
  return options.extent_bytes;
}

void require_sense(const PlacementOptions& options) {
  if (options.nodes < 2 || options.nodes > Placement::kMaxNodes) {
    throw Error("a placement is over 2 to {} memory nodes, not {}", Placement::kMaxNodes,
                options.nodes);
  }
  if (options.replicas < 1 || options.replicas > PlacedExtent::kMaxCopies) {
    throw Error("every extent has 1 to {} copies, not {}", PlacedExtent::kMaxCopies,
                options.replicas);
  }
  if (options.replicas > options.nodes) {
    throw Error(
        "{} copies of an extent need as many memory nodes, and there are {}: two copies "
        "on one node would be lost together",
        options.replicas, options.nodes);
  }
}

}  // namespace

RegionPlacement::RegionPlacement(std::vector<PlacedExtent> extents, std::uint64_t region_bytes,
                                 std::uint32_t nodes, const std::string& source)
    : extents_(std::move(extents)),
      region_bytes_(region_bytes),
      node_bytes_(nodes, kRegionHeaderBytes) {
  check(nodes, source);
  index();
}

void RegionPlacement::check(std::uint32_t nodes, const std::string& source) {
  if (extents_.empty() || extents_.front().begin != 0) {
    throw Error("{}: the first extent does not begin at 0", source);
  }
  for (std::uint32_t i = 0; i < extents_.size(); ++i) {
    const PlacedExtent& extent = extents_[i];
    if (end_of(i) <= std::max(extent.begin, kRegionHeaderBytes - 1)) {
      throw Error("{}: extent {} does not end after it begins", source, i);
    }
    if (extent.copy_count == 0) throw Error("{}: extent {} lies on no node", source, i);
    for (std::uint32_t c = 0; c < extent.copy_count; ++c) {
      const ExtentCopy& copy = extent.copies[c];
      if (copy.node >= nodes) {
        throw Error("{}: extent {} lies on node {}, and there are {}", source, i, copy.node, nodes);
      }
      for (std::uint32_t other = 0; other < c; ++other) {
        if (extent.copies[other].node != copy.node) continue;
        throw Error("{}: extent {} has two copies on node {}, which would be lost together", source,
                    i, copy.node);
      }
      const std::uint64_t expected = i == 0 ? 0 : node_bytes_[copy.node];
      if (copy.offset != expected) {
        throw Error("{}: extent {} lies at {} on node {}, where {} is free", source, i, copy.offset,
                    copy.node, expected);
      }
      node_bytes_[copy.node] = copy.offset + (end_of(i) - extent.begin);
    }
  }
}

void RegionPlacement::index() {
  const std::uint64_t per_extent = region_bytes_ / extents_.size() + 1;
  bucket_shift_ = static_cast<unsigned>(std::bit_width(per_extent)) - 1;
  std::uint32_t extent = 0;
  for (std::uint64_t bucket = 0; bucket <= region_bytes_ >> bucket_shift_; ++bucket) {
    while (extent + 1 < extents_.size() && end_of(extent) <= bucket << bucket_shift_) ++extent;
    first_of_bucket_.push_back(extent);
  }
}

std::uint64_t Placement::node_bytes(std::uint32_t node) const {
  std::uint64_t sum = 0;
  for (const RegionPlacement& region : regions) sum += region.node_bytes(node);
  return sum;
}

Placement make_placement(const CutPoints& cuts,
                         const std::array<std::uint64_t, kRegionCount>& region_bytes,
                         const PlacementOptions& options) {
  require_sense(options);
  const std::uint64_t extent_bytes = choose_extent_bytes(cuts, options);
  Placement placement;
  placement.nodes = options.nodes;
  placement.replicas = options.replicas;
  for (std::uint32_t region = 0; region < kRegionCount; ++region) {
    const Begins begins = region == kRecordsRegion
                              ? cut_at(cuts, extent_bytes)
                              : cut(kRegionHeaderBytes, region_bytes[region], extent_bytes);
    if (begins.size() > kMaxExtents) {
      throw Error("extents of {} bytes make {} of them, more than {}: make them larger",
                  extent_bytes, begins.size(), kMaxExtents);
    }
    if (region == kRecordsRegion && begins.size() < options.nodes) {
      throw Error(
          "the records make {} extents of {} bytes, too few for {} memory nodes: make the "
          "extents smaller or take fewer nodes",
          begins.size(), extent_bytes, options.nodes);
    }
    placement.regions.emplace_back(spread(begins, region_bytes[region], options),
                                   region_bytes[region], options.nodes, "the placement");
  }
  return placement;
}

RegionPlacement place_rows(std::uint64_t rows_begin, std::uint32_t row_bytes,
                           std::uint64_t region_bytes, const PlacementOptions& options) {
  const std::uint64_t wanted = options.extent_bytes > 0
                                   ? options.extent_bytes
                                   : usual_extent_bytes(region_bytes, options.nodes);
  const Begins begins = cut(rows_begin, region_bytes, round_up(wanted, row_bytes));
  return RegionPlacement(spread(begins, region_bytes, options), region_bytes, options.nodes,
                         "the placement");
}

Placement full_copies(std::span<const std::uint64_t> region_bytes, std::uint32_t nodes) {
  FARVEC_CHECK(nodes > 0 && nodes <= PlacedExtent::kMaxCopies);
  Placement placement;
  placement.nodes = placement.replicas = nodes;
  add_files(placement, region_bytes);  // the index's regions, which have whole copies as well
  return placement;
}

void check_records(const Placement& placement, const CutPoints& cuts) {
  for (const PlacedExtent& extent : placement.regions[kRecordsRegion].extents()) {
    if (extent.begin == 0 || cuts.at_or_after(extent.begin) == extent.begin) continue;
    throw Error(
        "the placement cuts in two what one read brings, at offset {}: place the index again with "
        "'farvec place'",
        extent.begin);
  }
}

}  // namespace farvec::layout
