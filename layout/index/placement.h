// A Placement says which memory node holds which bytes of an index.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "layout/index/cut_points.h"
#include "layout/region/region_header.h"

namespace farvec::layout {

/// An ExtentCopy is a copy of an extent: its place in the region of the same number that `node`
/// serves.
struct ExtentCopy {
  std::uint32_t node = 0;
  std::uint64_t offset = 0;
};

/// A PlacedExtent is a run of a region's bytes that is on one node as a whole, and its replicas. It
/// ends where the next one begins. The bytes that one read brings never cross an extent's end.
struct PlacedExtent {
  static constexpr std::uint32_t kMaxCopies = 4;

  std::uint64_t begin = 0;  ///< counts in the whole region; 0 for the first, which holds the header
  std::uint32_t copy_count = 0;
  std::array<ExtentCopy, kMaxCopies> copies;  ///< the first is the one to read while it lives
};

/// A RegionPlacement has the extents of one region. A node's region is a header, then its extents
/// in the region's order without gaps; the region's first extent brings the header with it.
class RegionPlacement {
 public:
  /// Throws Error, naming `source` and the extent, unless the extents cover [0, region_bytes), are
  /// arranged in this way on `nodes` nodes, and no node has two copies of one.
  RegionPlacement(std::vector<PlacedExtent> extents, std::uint64_t region_bytes,
                  std::uint32_t nodes, const std::string& source);

  const std::vector<PlacedExtent>& extents() const { return extents_; }
  std::uint64_t region_bytes() const { return region_bytes_; }
  /// Returns the bytes that `node` serves of the region, header included.
  std::uint64_t node_bytes(std::uint32_t node) const { return node_bytes_[node]; }

  /// Returns the extent that holds `offset`, which is below region_bytes().
  std::uint32_t find(std::uint64_t offset) const {
    std::uint32_t extent = first_of_bucket_[offset >> bucket_shift_];
    while (end_of(extent) <= offset) ++extent;
    return extent;
  }
  std::uint64_t end_of(std::uint32_t extent) const {
    return extent + 1 < extents_.size() ? extents_[extent + 1].begin : region_bytes_;
  }

 private:
  void check(std::uint32_t nodes, const std::string& source);
  void index();

  std::vector<PlacedExtent> extents_;
  std::uint64_t region_bytes_;
  std::vector<std::uint64_t> node_bytes_;
  /// The extent of each bucket's first byte; about as many buckets as extents.
  std::vector<std::uint32_t> first_of_bucket_;
  unsigned bucket_shift_ = 0;
};

/// A Placement has the places of an index on several memory nodes.
struct Placement {
  static constexpr std::uint32_t kMaxNodes = 1024;

  std::uint32_t nodes = 1;
  std::uint32_t replicas = 1;            ///< copies of each extent that were asked for
  std::vector<RegionPlacement> regions;  ///< indexed by region number

  std::uint64_t node_bytes(std::uint32_t node) const;
};

struct PlacementOptions {
  std::uint32_t nodes = 2;
  std::uint32_t replicas = 1;
  std::uint64_t extent_bytes = 0;  ///< 0: depends on the size of the index
};

/// Spreads every region over the nodes: extent i first on node i mod nodes, its replicas on the
/// others in turn, so that the reads of a lost node go to all that are left. `region_bytes` are the
/// lengths of the whole regions. Throws Error when the options contradict each other or the index.
Placement make_placement(const CutPoints& cuts,
                         const std::array<std::uint64_t, kRegionCount>& region_bytes,
                         const PlacementOptions& options);

/// Spreads a region in the same way that has rows of `row_bytes` from `rows_begin` on. It is cut
/// between rows alone.
RegionPlacement place_rows(std::uint64_t rows_begin, std::uint32_t row_bytes,
                           std::uint64_t region_bytes, const PlacementOptions& options);

/// Each of `nodes`, of which there are at most PlacedExtent::kMaxCopies, has or may have a copy of
/// everything; the first is the one to read while it lives. There may be regions after those of the
/// index. A region that is shorter than a header counts as long as one.
Placement full_copies(std::span<const std::uint64_t> region_bytes, std::uint32_t nodes);

/// Throws Error when an extent of the records does not begin at one of `cuts`.
void check_records(const Placement& placement, const CutPoints& cuts);

}  // namespace farvec::layout
