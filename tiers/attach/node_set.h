// A NodeSet holds the memory nodes that have an index together, or copies of one, and attaches each
// again when it was lost.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tiers/attach/attachment.h"
#include "tiers/attach/endpoint_inbox.h"
#include "tiers/attach/placed_endpoint.h"

namespace farvec::tiers {

struct NodeSetOptions {
  std::vector<rpc::Address> addresses;  ///< in any order: each node knows which it is
  AttachOptions attach;  ///< memory_node, wait, await_listener and stop are set by the NodeSet
  PlacedOptions placed;
  /// Whether wait_ready() waits for nodes at whose address nothing listens.
  bool await_absent = true;
  bool partial = false;  ///< true: the set is ready without copies of all records
  /// When set, each node has a copy of all of this index or none, now or later, and serves it
  /// without a placement. There are at most layout::PlacedExtent::kMaxCopies addresses, of which
  /// the first is read while it lives. Such a set is never lost. Null: the nodes say what they
  /// hold.
  std::shared_ptr<const layout::Manifest> copies_of;
};

/// Has one thread per node, which attaches it, watches it, and attaches it again, with back-off, as
/// long as another node lives. Once none lives, the set is lost for good, unless it is one of
/// copies. Members may be called from any thread.
class NodeSet {
 public:
  /// Begins to attach. Throws Error when the options cannot work.
  explicit NodeSet(NodeSetOptions options);
  ~NodeSet();
  NodeSet(const NodeSet&) = delete;
  NodeSet& operator=(const NodeSet&) = delete;

  /// Waits until every node is attached, or is absent when absent nodes are not waited for. When
  /// `bound` has passed or `stop` (may be null) is true, it checks whether the attached nodes hold
  /// everything. Throws UnreachableError that says which nodes are missing and why, and Error when
  /// a node serves what cannot be used. It may be called again. For copies one node is enough, and
  /// the members below may be called before it.
  void wait_ready(std::chrono::milliseconds bound, const std::atomic<bool>* stop = nullptr);

  // After wait_ready():

  /// False once no node is attached; never true again.
  bool alive() const;
  const layout::Manifest& manifest() const { return *manifest_; }
  /// Returns a number that differs between two publications of the nodes.
  std::uint64_t generation() const { return generation_; }
  /// Returns true when every node that is attached has published another index since. Whether these
  /// are one index is known when another set attaches them.
  bool superseded() const;
  /// Returns the regions in one piece, for an index on one node that is mapped; null otherwise.
  std::shared_ptr<const transport::RegionSet> regions() const;

  /// Makes an endpoint for one core, over the whole regions; it must not outlive the set. Throws
  /// UnreachableError when no node can be read. For copies it waits at most for the longer of
  /// placed.node_timeout and attach.connect_timeout, and nodes that answer later are read later.
  std::unique_ptr<transport::Endpoint> make_endpoint();

  struct Member {
    std::string address;
    bool attached = false;   ///< attached, and every core can read it
    std::uint32_t node = 0;  ///< set when it is attached
  };
  std::vector<Member> members() const;

 private:
  struct Keeper {
    rpc::Address address;
    std::uint32_t number = 0;  ///< its place among the addresses
    // These are guarded by mutex_:
    std::shared_ptr<Attachment> attachment;
    bool handed_out = false;       ///< every core has an endpoint
    bool attached_before = false;  ///< and lost since, if it is not attached now
    bool absent = false;           ///< nothing listened at the last attempt
    /// For copies: the cores that are to have an endpoint.
    std::vector<std::weak_ptr<EndpointInbox>> asked;
    std::string last_error;
    std::thread thread;
  };

  void keep(Keeper& keeper);
  void attach_once(Keeper& keeper);
  void admit(Keeper& keeper, const std::shared_ptr<Attachment>& attachment);
  void require_same(const Keeper& keeper, const Attachment& attachment) const;
  struct Attached {
    std::uint32_t node = 0;  ///< its number in manifest_
    std::shared_ptr<Attachment> attachment;
  };
  void hand_out(const Attached& attached, EndpointInbox& inbox);
  void hand_out_all(std::span<const Attached> attached, EndpointInbox& inbox);
  std::unique_ptr<transport::Endpoint> make_copies_endpoint();
  void watch(Keeper& keeper);
  void hand_out_asked(Keeper& keeper);
  bool stopped_within(std::chrono::milliseconds time);
  void remember(const std::shared_ptr<EndpointInbox>& inbox);
  /// Returns the node's number in manifest_.
  std::uint32_t node_of(const Keeper& keeper, const Attachment& attachment) const;
  bool any_attached() const;
  bool holds_everything() const;
  std::string missing() const;

  const NodeSetOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  /// The first node's manifest, or for copies one with a placement that says so; fixed once ready.
  std::unique_ptr<const layout::Manifest> manifest_;
  std::string manifest_text_;  ///< the text that the nodes have
  std::uint64_t generation_ = 0;
  std::vector<std::weak_ptr<EndpointInbox>> inboxes_;
  std::string failure_;                     ///< says why a node cannot be used
  std::shared_ptr<const Attachment> only_;  ///< for an index on one node; then fixed
  std::atomic<bool> ready_{false};
  std::atomic<bool> lost_{false};
  std::atomic<bool> stopping_{false};
  std::vector<std::unique_ptr<Keeper>> keepers_;
};

}  // namespace farvec::tiers
