// A PlacementPolicy decides which page a new vertex goes to.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "base/status.h"
#include "graph/hnsw/layer_scratch.h"
#include "layout/hnsw/hnsw_meta.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::paged {

/// Describes a vertex that needs a place.
struct PlacementRequest {
  NodeId id = 0;
  std::uint32_t level = 0;
  /// Neighbours that were chosen on layer 0, nearest first; handles are
  /// layout::HnswPlace::handle().
  std::span<const graph::Candidate> neighbors;
  /// For each neighbour, the partition of its page plus one; 0: none.
  std::span<const std::uint32_t> partitions;
  Ticks deadline = 0;
};

/// The most pages of a policy's own that one insert may change.
inline constexpr std::size_t kPolicyPages = 2;

/// Says where a vertex may go. `page` is looked at again when the graph is changed: when it has no
/// room any more, the policy is asked once more.
struct Placement {
  PageNumber page = layout::kNoPage;  ///< a page of vertices; kNoPage: a new page
  std::uint32_t partition = 0;        ///< a new page's partition plus one; 0: none
  /// Pages of the policy's that the insert may change; they may be the same one.
  std::array<PageNumber, kPolicyPages> own = {layout::kNoPage, layout::kNoPage};
};

/// Is what a policy may change inside PageStore::update(), where the pages are locked.
struct PlacementEdit {
  PageEditor& editor;
  layout::HnswState& state;     ///< the meta page's; it is written after note()
  std::size_t vertex_page = 0;  ///< index among the pins
  PageNumber vertex_number = 0;
  bool new_page = false;                        ///< the page is new, and initialised already
  std::array<std::size_t, kPolicyPages> own{};  ///< indices among the pins, of those that are pages
};

/// Decides where new vertices go. Each writer has one, which one fiber at a time uses.
class PlacementPolicy {
 public:
  virtual ~PlacementPolicy() = default;

  /// Chooses a place for a vertex, from inside a fiber; may suspend.
  virtual Result<Placement> choose(const PlacementRequest& request) = 0;

  /// Notes, in what the policy keeps on pages, where the vertex goes. It must not suspend. A status
  /// that is not ok ends the update without a change; after `cancelled` the writer asks again.
  virtual Status note(const Placement& placement, PlacementEdit& edit) = 0;
};

/// Chooses the insert page that the meta page names; when that has no room, the first page of the
/// list of those with free space; when this has none, a new page. Either of the last two becomes
/// the insert page, and the former one goes to the list if a smaller vertex would fit.
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
  PageNumber insert_page_ = layout::kNoPage;  ///< the insert page when choose() looked
  PageNumber full_page_ = layout::kNoPage;    ///< the first page of the list, if it has no room
};

}  // namespace farvec::paged
