// Which page a new vertex goes to.
#pragma once

#include <cstdint>
#include <span>

#include "base/clock.h"
#include "base/status.h"
#include "graph/hnsw/layer_scratch.h"
#include "layout/hnsw/hnsw_meta.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::paged {

/// A vertex that needs a place.
struct PlacementRequest {
  NodeId id = 0;
  std::uint32_t level = 0;
  /// Chosen at layer 0, nearest first; handles are layout::HnswPlace::handle().
  std::span<const graph::Candidate> neighbors;
  /// Of each neighbour, the partition of its page plus one; 0: none.
  std::span<const std::uint32_t> partitions;
  Ticks deadline = 0;
};

/// Where it may go. `page` is looked at again when the graph changes: when it has no room any more
/// the policy is asked once more.
struct Placement {
  PageNumber page = layout::kNoPage;  ///< one of vertices; kNoPage: a new page
  std::uint32_t partition = 0;        ///< plus one, of a new page
  PageNumber own = layout::kNoPage;   ///< a page of the policy's that the insert may change
};

/// Inside PageStore::update(): the pages are locked.
struct PlacementEdit {
  PageEditor& editor;
  layout::HnswState& state;     ///< of the meta page; written after the policy has had its say
  std::size_t vertex_page = 0;  ///< among the pins
  PageNumber vertex_number = 0;
  bool new_page = false;  ///< initialised already
  std::size_t own = 0;    ///< among the pins, if Placement::own is a page
};

/// Each writer has one; used by one fiber at a time.
class PlacementPolicy {
 public:
  virtual ~PlacementPolicy() = default;

  /// From inside a fiber; may suspend.
  virtual Result<Placement> choose(const PlacementRequest& request) = 0;

  /// Notes where the vertex goes, in what the policy keeps on pages. It must not suspend. A status
  /// that is not ok ends the update without a change, and the writer asks again.
  virtual Status note(const Placement& placement, PlacementEdit& edit) = 0;
};

/// The meta page's insert page; when that has no room, the first page of the list of those with
/// free space; then a new page. Either becomes the insert page, and the former one goes to the list
/// if a smaller vertex would fit.
class FallbackPlacement final : public PlacementPolicy {
 public:
  /// Both must outlive it.
  FallbackPlacement(PagedHnsw& hnsw, PageFetcher& fetcher) : hnsw_(hnsw), fetcher_(fetcher) {}

  Result<Placement> choose(const PlacementRequest& request) override;
  Status note(const Placement& placement, PlacementEdit& edit) override;

 private:
  Status find_own(const layout::HnswState& state, Ticks deadline, Placement& placement);
  Result<bool> has_room(PageNumber page, std::uint32_t level, Ticks deadline);

  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  PageNumber insert_page_ = layout::kNoPage;  ///< when choose() looked
  PageNumber full_page_ = layout::kNoPage;    ///< first of the list, without any room
};

}  // namespace farvec::paged
