// SegmentNodes are the memory nodes on which a collection's segments are searched.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "layout/collection/segment_key.h"
#include "layout/index/manifest.h"
#include "tiers/attach/attach_options.h"
#include "tiers/attach/node_set.h"
#include "tiers/attach/placed_endpoint.h"

namespace farvec::collection {

struct SegmentNodesOptions {
  /// The nodes, in the same order in every process.
  std::vector<rpc::Address> nodes;
  tiers::AttachOptions attach;  ///< for each of them; its address and segment are not used
  tiers::PlacedOptions placed;
  /// How many nodes are to hold a segment; 0: two, or one where there is only one.
  std::uint16_t copies = 0;
};

/// Immutable; it may be used by any thread.
class SegmentNodes {
 public:
  /// Throws Error when there is no node, and when there are more copies than nodes or than a
  /// segment can have.
  explicit SegmentNodes(SegmentNodesOptions options);

  const SegmentNodesOptions& options() const { return options_; }
  /// Returns the numbers of the nodes that may hold a segment, which spread segments over all
  /// nodes. The first is the one to read.
  std::vector<std::size_t> homes(std::uint64_t segment) const;

  /// Returns how to attach to one node, and to what it holds under the key.
  tiers::AttachOptions attach_options(std::size_t node, const layout::SegmentKey& key) const;
  /// Attaches, in the background, to those of the segment's homes that hold it, now or later. For
  /// `files` see CopyNodesOptions.
  std::shared_ptr<tiers::NodeSet> attach(const layout::SegmentKey& key,
                                         const layout::Manifest& manifest,
                                         std::vector<std::uint64_t> files = {}) const;

 private:
  const SegmentNodesOptions options_;
};

}  // namespace farvec::collection
