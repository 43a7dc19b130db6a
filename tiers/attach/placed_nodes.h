// PlacedNodes are the memory nodes that hold one index together, or the one that has all of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tiers/attach/kept_nodes.h"
#include "tiers/attach/node_set.h"
#include "tiers/attach/placed_endpoint.h"

namespace farvec::tiers {

struct PlacedNodesOptions {
  std::vector<rpc::Address> addresses;  ///< in any order: each node knows which it is
  AttachOptions attach;  ///< memory_node, wait, await_listener and stop are set by the set
  PlacedOptions placed;
  /// Whether wait_ready() waits for nodes at whose address nothing listens.
  bool await_absent = true;
  bool partial = false;  ///< true: the set is ready without copies of all records
};

/// The nodes say which index they hold, and how it is placed over them. Each is attached again as
/// long as another one lives; once none lives, the set is lost for good.
class PlacedNodes final : public NodeSet, NodeRules {
 public:
  /// Begins to attach. Throws Error when the options cannot work.
  explicit PlacedNodes(PlacedNodesOptions options);

  /// Waits until every node is attached, or is absent when absent nodes are not waited for. When
  /// the wait ends earlier, it is enough that the attached nodes hold everything. Once the set was
  /// ready it returns at once, and throws UnreachableError where the set is lost.
  void wait_ready(std::chrono::milliseconds bound,
                  const std::atomic<bool>* stop = nullptr) override;

  // After wait_ready():

  bool alive() const override { return !kept_.lost() && (only_ == nullptr || usable(*only_)); }
  const layout::Manifest& manifest() const override { return *manifest_; }
  const PlacedNodesOptions& options() const { return options_; }
  /// Returns a number that differs between two publications of the nodes.
  std::uint64_t generation() const { return generation_; }
  /// Returns the bytes of the files that the nodes hold beside the index, which are the regions
  /// after the manifest's; empty where they hold none.
  const std::vector<std::uint64_t>& file_bytes() const { return file_bytes_; }
  bool superseded() const override { return kept_.superseded(); }
  std::shared_ptr<const transport::RegionSet> regions() const override;
  std::unique_ptr<transport::Endpoint> make_endpoint() override;
  std::vector<Member> members() const override { return kept_.members(); }

 private:
  std::uint32_t admit(const KeptNode& node, const Attachment& attachment) override;
  bool ready() const override { return ready_.load(std::memory_order_relaxed); }
  bool lost_with_last() const override { return ready(); }

  void require_same(const KeptNode& node, const Attachment& attachment) const;
  void require_same_files(const KeptNode& node, const Attachment& attachment) const;
  void take_files(const Attachment& attachment);
  bool waited_enough() const;
  bool holds_everything() const;

  const PlacedNodesOptions options_;
  // Those up to the placement are guarded by the lock of kept_, and fixed once ready.
  std::unique_ptr<const layout::Manifest> manifest_;  ///< the first node's
  std::string manifest_text_;                         ///< the text that the nodes have
  std::uint64_t generation_ = 0;
  bool files_known_ = false;                    ///< a node was there that layout::holds_files()
  std::vector<std::uint64_t> file_bytes_;       ///< what that one had
  std::optional<layout::Placement> placement_;  ///< the manifest's, with the files
  std::shared_ptr<const Attachment> only_;      ///< for an index on one node; then fixed
  std::atomic<bool> ready_{false};              ///< relaxed: it guards no other memory
  KeptNodes kept_;                              ///< the last member: its threads use the others
};

}  // namespace farvec::tiers
