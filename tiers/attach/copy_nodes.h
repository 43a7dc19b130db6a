// CopyNodes are memory nodes that each have a copy of one index, or none, now or later.
#pragma once

#include <cstdint>
#include <vector>

#include "tiers/attach/kept_nodes.h"
#include "tiers/attach/node_set.h"
#include "tiers/attach/placed_endpoint.h"

namespace farvec::tiers {

struct CopyNodesOptions {
  /// There are at most layout::PlacedExtent::kMaxCopies, of which the first is read while it lives.
  std::vector<rpc::Address> addresses;
  AttachOptions attach;  ///< memory_node, wait, await_listener and stop are set by the set
  PlacedOptions placed;
  /// The lengths of the files beside a segment's index that are read too: they are the regions
  /// after those of the index, and nodes with other files are not used. Empty: none is read.
  std::vector<std::uint64_t> files = {};
};

/// The index is known beforehand. A node has all of it, and serves it without a placement. The set
/// is never lost: a node is attached again however long none has been there.
class CopyNodes final : public NodeSet, NodeRules {
 public:
  /// Begins to attach. `index` has no placement. Throws Error when the options cannot work.
  CopyNodes(const layout::Manifest& index, CopyNodesOptions options);

  /// Waits until one node is attached. The other members may be called before it.
  void wait_ready(std::chrono::milliseconds bound,
                  const std::atomic<bool>* stop = nullptr) override;

  bool alive() const override { return true; }
  /// Returns the index with a placement that says that each node has all of it.
  const layout::Manifest& manifest() const override { return manifest_; }
  bool superseded() const override { return kept_.superseded(); }
  /// Waits at most for the longer of placed.node_timeout and attach.connect_timeout. Nodes that
  /// answer later are read later.
  std::unique_ptr<transport::Endpoint> make_endpoint() override;
  std::vector<Member> members() const override { return kept_.members(); }

 private:
  std::uint32_t admit(const KeptNode& node, const Attachment& attachment) override;
  bool ready() const override { return true; }
  bool lost_with_last() const override { return false; }

  const CopyNodesOptions options_;
  const layout::Manifest manifest_;
  const std::string manifest_text_;  ///< the text that the nodes have
  KeptNodes kept_;                   ///< the last member: its threads use the others
};

}  // namespace farvec::tiers
