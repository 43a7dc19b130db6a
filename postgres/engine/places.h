// Places know how indexes are opened on each tier, and what those that share a tier have together:
// a modelled device, and the pool of slotted pages.
#pragma once

#include "collection/write/collection_access.h"
#include "layout/collection/collection_manifest.h"
#include "layout/collection/place_file.h"
#include "postgres/channel/requests.h"
#include "search/core/search_shape.h"
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace farvec::postgres {

/// Returns the place that was asked for. Throws StatusError (invalid_argument) for a word that does
/// not end.
layout::IndexPlace place_of(const AskOpen& asked);

/// Returns the layout of an index that is made. Throws StatusError (invalid_argument) naming a
/// number that is none.
layout::LayoutKind layout_of(const AskOpen& asked);
/// Returns the number of a layout that such an index has.
AskLayout asked_layout(layout::LayoutKind layout);

/// Any thread may call everything at any time.
class Places {
 public:
  /// `access` has what is the same everywhere; an engine may take `memory` bytes.
  Places(collection::CollectionAccess access, std::uint64_t memory);

  /// Throws StatusError (invalid_argument) for a place where no index can be, or where one of this
  /// layout cannot be.
  void check(const layout::IndexPlace& place, layout::LayoutKind layout);
  /// Returns how a collection of this shape is opened there. One in slotted pages is opened on the
  /// disk, whatever the place says: it was made before its place was changed. Throws StatusError
  /// (invalid_argument).
  collection::CollectionAccess access(const layout::IndexPlace& place,
                                      const layout::CollectionManifest& shape);
  /// Returns what is the same everywhere.
  const collection::CollectionAccess& common() const { return common_; }
  /// Says whether records are read from a disk there, and do not lie in memory.
  bool is_on_disk(const layout::IndexPlace& place);

  /// Returns the bytes that the pool takes now which indexes share.
  std::size_t pool_bytes() const { return shared_pool_->used(); }

 private:
  collection::SegmentAccess segments_on(const std::string& tier);

  const collection::CollectionAccess common_;
  const std::uint64_t memory_;
  const std::shared_ptr<slotted::PoolBudget> shared_pool_;
  std::mutex mutex_;                                                 ///< guards the member below
  std::map<std::string, std::weak_ptr<transport::Device>> devices_;  ///< those of modelled tiers
};

}  // namespace farvec::postgres
