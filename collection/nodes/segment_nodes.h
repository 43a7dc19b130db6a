// The memory nodes that a collection's segments are searched on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "layout/collection/segment_key.h"
#include "layout/index/manifest.h"
#include "tiers/attach/attach_options.h"
#include "tiers/attach/node_set.h"

namespace farvec::collection {

struct SegmentNodesOptions {
  /// In the same order in every process.
  std::vector<rpc::Address> nodes;
  tiers::AttachOptions attach;  ///< of each of them; address and segment are not looked at
  tiers::PlacedOptions placed;
  /// Nodes that a segment is to lie on; 0: two, or one where there is no more.
  std::uint16_t copies = 0;
};

/// Immutable; any thread.
class SegmentNodes {
 public:
  /// Throws Error on no node, and on more copies than nodes or than a segment can have.
  explicit SegmentNodes(SegmentNodesOptions options);

  const SegmentNodesOptions& options() const { return options_; }
  /// Numbers of the nodes that a segment may lie on, which spread segments over all of them; the
  /// first is the one to read.
  std::vector<std::size_t> homes(std::uint64_t segment) const;

  /// To attach to one node, and to what it holds under the key.
  tiers::AttachOptions attach_options(std::size_t node, const layout::SegmentKey& key) const;
  /// Attaches, in the background, to those of its homes that hold the segment, now or later.
  std::shared_ptr<tiers::NodeSet> attach(const layout::SegmentKey& key,
                                         const layout::Manifest& manifest) const;

 private:
  const SegmentNodesOptions options_;
};

}  // namespace farvec::collection
