// A SegmentAccess says how a process searches segments.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "collection/nodes/segment_nodes.h"
#include "layout/collection/collection_manifest.h"
#include "search/core/search_shape.h"
#include "tiers/tier_spec.h"

namespace farvec::collection {

/// Says where the records of all segments of a process are, and for how many searches.
struct SegmentAccess {
  /// Returns the access to a tier that parse_tier() takes. Throws Error.
  static SegmentAccess on(std::string_view tier);
  /// The same, and throws StatusError (invalid_argument) for a word that names no tier, and for a
  /// tier that holds one file or is on another machine: many segments lie on this one.
  static SegmentAccess of_many(std::string_view tier);

  tiers::TierSpecPointer tier;
  /// The tier's device, for all segments; null where nothing is modelled.
  std::shared_ptr<transport::Device> device;
  /// Where the second copies of segments of fewer bits are read from; null: the tier above.
  tiers::TierSpecPointer second_tier;
  std::shared_ptr<transport::Device> second_device;  ///< that tier's
  search::SearchShape shape;  ///< largest search; for each core that searches segments
  unsigned threads = 0;       ///< threads that load; 0: all
  /// The nodes from which records are read, in the way that `tier` says; null: a tier of this
  /// process.
  std::shared_ptr<const SegmentNodes> nodes;
  std::uint64_t collection = 0;  ///< that of the manifest, for nodes
};

/// Returns the tier on which such segments are searched when none is named.
const char* usual_tier(const layout::CollectionOptions& options);

/// Throws StatusError (invalid_argument) saying what to do unless slotted pages can be searched
/// there.
void require_tier_of_pages(const SegmentAccess& access);

/// Returns the modelled device of a tier with all its parameters: "emulated(rdma: ...)". Empty
/// where nothing is modelled.
std::string modelled_device(const SegmentAccess& access);

/// Says that second copies are read from another tier than records. Throws Error for a word that
/// names no tier, and for a tier that holds one file or is on another machine.
void set_second_tier(SegmentAccess& access, std::string_view tier);

}  // namespace farvec::collection
