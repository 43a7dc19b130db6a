// The memory nodes that hold an index together, or copies of one, each attached again when it was
// lost.
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
  AttachOptions attach;  ///< memory_node, wait, await_listener and stop are the set's own
  PlacedOptions placed;
  /// Whether wait_ready() waits for nodes at whose address nobody listens.
  bool await_absent = true;
  bool partial = false;  ///< ready without copies of all records
  /// Each node has a copy of all of this index or none, now or later, and serves it without a
  /// placement; at most layout::PlacedExtent::kMaxCopies addresses, of which the first is read
  /// while it lives. Such a set is never lost. Null: the nodes say what they hold.
  std::shared_ptr<const layout::Manifest> copies_of;
};

/// One thread per node attaches it, watches it, and attaches it again, with back-off, as long as
/// another one lives. Once none does, the set is lost for good, unless it is one of copies. Members
/// may be called from any thread.
class NodeSet {
 public:
  /// Begins to attach. Throws Error when the options cannot work.
  explicit NodeSet(NodeSetOptions options);
  ~NodeSet();
  NodeSet(const NodeSet&) = delete;
  NodeSet& operator=(const NodeSet&) = delete;

  /// Waits until every node is attached, or absent when those are not waited for; when `bound` has
  /// passed or `stop` (may be null) is true, whether those that are hold everything. Throws
  /// UnreachableError that says who is missing and why, Error when a node serves what cannot be
  /// used. May be called again. Of copies one is enough, and what follows may be called before.
  void wait_ready(std::chrono::milliseconds bound, const std::atomic<bool>* stop = nullptr);

  // After wait_ready():

  /// False once no node is attached; never true again.
  bool alive() const;
  const layout::Manifest& manifest() const { return *manifest_; }
  /// Differs between two publications of the nodes.
  std::uint64_t generation() const { return generation_; }
  /// Every node that is attached has published another index since. Whether these are one index
  /// shows when another set attaches them.
  bool superseded() const;
  /// The regions in one piece: of an index on one node that is mapped. Null else.
  std::shared_ptr<const transport::RegionSet> regions() const;

  /// For one core, over the whole regions; must not outlive the set. Throws UnreachableError when
  /// no node can be read; of copies after placed.node_timeout at most, and those that answer later
  /// are read later.
  std::unique_ptr<transport::Endpoint> make_endpoint();

  struct Member {
    std::string address;
    bool attached = false;   ///< and every core can read it
    std::uint32_t node = 0;  ///< when it is attached
  };
  std::vector<Member> members() const;

 private:
  struct Keeper {
    rpc::Address address;
    std::uint32_t number = 0;  ///< of the addresses
    // Under mutex_:
    std::shared_ptr<Attachment> attachment;
    bool handed_out = false;       ///< every core has an endpoint
    bool attached_before = false;  ///< and lost since, when it is not attached
    bool absent = false;           ///< nobody listened at the last attempt
    /// Of copies: cores that are to have an endpoint.
    std::vector<std::weak_ptr<EndpointInbox>> asked;
    std::string last_error;
    std::thread thread;
  };

  void keep(Keeper& keeper);
  void attach_once(Keeper& keeper);
  void admit(Keeper& keeper, const std::shared_ptr<Attachment>& attachment);
  void require_same(const Keeper& keeper, const Attachment& attachment) const;
  struct Attached {
    std::uint32_t node = 0;  ///< of manifest_
    std::shared_ptr<Attachment> attachment;
  };
  void hand_out(const Attached& attached, EndpointInbox& inbox);
  void hand_out_all(std::span<const Attached> attached, EndpointInbox& inbox);
  std::unique_ptr<transport::Endpoint> make_copies_endpoint();
  void watch(Keeper& keeper);
  void hand_out_asked(Keeper& keeper);
  bool stopped_within(std::chrono::milliseconds time);
  void remember(const std::shared_ptr<EndpointInbox>& inbox);
  /// Which node of manifest_ it is.
  std::uint32_t node_of(const Keeper& keeper, const Attachment& attachment) const;
  bool any_attached() const;
  bool holds_everything() const;
  std::string missing() const;

  const NodeSetOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  /// Of the first node, or of the copies with a placement that says so; fixed once ready.
  std::unique_ptr<const layout::Manifest> manifest_;
  std::string manifest_text_;  ///< as the nodes have it
  std::uint64_t generation_ = 0;
  std::vector<std::weak_ptr<EndpointInbox>> inboxes_;
  std::string failure_;                     ///< a node that cannot be used
  std::shared_ptr<const Attachment> only_;  ///< of an index on one node; then fixed
  std::atomic<bool> ready_{false};
  std::atomic<bool> lost_{false};
  std::atomic<bool> stopping_{false};
  std::vector<std::unique_ptr<Keeper>> keepers_;
};

}  // namespace farvec::tiers
