// An IdMap finds the place of an id, and makes the pages of the id map that it needs.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "layout/hnsw/id_map.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"
#include "ssd_baseline/paged/graph/pinned_pages.h"

namespace farvec::paged {

/// An IdEntry is the place of an id, and the leaf that has it.
struct IdEntry {
  PageNumber leaf = layout::kNoPage;  ///< none: no id near it was ever inserted
  layout::HnswPlace place;            ///< empty: the id is not in the graph
};

class IdMap {
 public:
  IdMap(PagedHnsw& hnsw, PageFetcher& fetcher)
      : hnsw_(hnsw),
        fetcher_(fetcher),
        shape_{hnsw.shape().page_bytes},
        pins_(hnsw, fetcher, ReadMode::sync) {}

  const layout::IdMapShape& shape() const { return shape_; }

  /// Must be called inside a fiber. data_loss when a page on the way is not one of the map.
  Result<IdEntry> find(NodeId id, Ticks deadline, FetchCounts& counts);

  /// To be called inside a fiber: does what find() does, and makes the leaf if there is none, in
  /// updates of its own. One caller of a graph at a time makes leaves. deadline_exceeded when it is
  /// another one's turn until then.
  Result<IdEntry> find_or_make(NodeId id, Ticks deadline, FetchCounts& counts);

 private:
  /// How far the way to an id goes: to a leaf, or to the page that does not have the next one.
  struct Way {
    layout::HnswState state;
    PageNumber page = layout::kNoPage;  ///< the last page; none: the root is too low, or missing
    std::uint32_t height = 0;           ///< the height of `page`
    layout::HnswPlace place;            ///< set if page is a leaf
    bool complete() const { return page != layout::kNoPage && height == 0; }
  };
  Result<Way> walk(NodeId id, Ticks deadline, FetchCounts& counts);
  Status wait_for_turn(Ticks deadline);
  Result<IdEntry> make(NodeId id, Ticks deadline, FetchCounts& counts);
  Status extend(const Way& way, NodeId id, Ticks deadline, FetchCounts& counts);
  Status edit(PageEditor& editor, const Way& way, NodeId id, PageNumber added);
  std::uint32_t added_height(const Way& way, NodeId id) const;

  PagedHnsw& hnsw_;
  PageFetcher& fetcher_;
  const layout::IdMapShape shape_;
  PinnedPages pins_;
  PagePin spare_;  ///< a page that was added before the disk refused its update
};

/// Returns the entry of an id on its leaf; `leaf` is a place in the pins of an update.
Result<layout::HnswPlace> edited_entry(const PageEditor& editor, std::size_t leaf,
                                       const layout::IdMapShape& shape, NodeId id);
Status write_entry(PageEditor& editor, std::size_t leaf, std::uint32_t offset,
                   layout::HnswPlace place);

}  // namespace farvec::paged
