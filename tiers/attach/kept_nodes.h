// KeptNodes keep memory nodes attached: each has a thread, which attaches it, watches it, and
// attaches it again, with back-off.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tiers/attach/attachment.h"
#include "tiers/attach/endpoint_inbox.h"
#include "tiers/attach/node_set.h"

namespace farvec::tiers {

/// A KeptNode is one of the nodes. What is not const is guarded by KeptNodes::lock().
struct KeptNode {
  const rpc::Address address;
  const std::uint32_t number;  ///< its place among the addresses
  std::shared_ptr<Attachment> attachment = nullptr;
  std::uint32_t node = 0;        ///< what admit() returned for the attachment
  bool handed_out = false;       ///< every core has an endpoint
  bool attached_before = false;  ///< and lost since, if it is not attached now
  bool absent = false;           ///< nothing listened at the last attempt
  std::string last_error = {};
  std::vector<std::weak_ptr<EndpointInbox>> asked = {};  ///< cores that are to have an endpoint
  std::thread thread = {};
};

/// NodeRules say what the nodes hold. Calls come from the threads of the nodes.
class NodeRules {
 public:
  /// Decides under the lock whether a node that was attached just now can be used beside the
  /// others, and returns its number in the manifest. Throws Error when it cannot.
  virtual std::uint32_t admit(const KeptNode& node, const Attachment& attachment) = 0;
  /// Returns true once the set is in use: nodes that come and go are then told in the log.
  virtual bool ready() const = 0;
  /// Whether the nodes are lost for good once none of them is attached.
  virtual bool lost_with_last() const = 0;

 protected:
  ~NodeRules() = default;
};

class KeptNodes {
 public:
  /// Begins to attach the nodes by `attach`, of which it sets memory_node, wait, await_listener and
  /// stop. The rules must outlive it. Throws Error without an address.
  KeptNodes(const std::vector<rpc::Address>& addresses, AttachOptions attach, NodeRules& rules);
  ~KeptNodes();
  KeptNodes(const KeptNodes&) = delete;
  KeptNodes& operator=(const KeptNodes&) = delete;

  std::unique_lock<std::mutex> lock() const { return std::unique_lock(mutex_); }

  // These are called under the lock:

  std::span<const std::unique_ptr<KeptNode>> nodes() const { return nodes_; }
  bool any_attached() const;
  /// Returns which nodes are not attached, and why; empty when all are.
  std::string missing() const;
  /// Returns once why a node could not be used before ready(); empty: all could.
  std::string take_failure() { return std::exchange(failure_, {}); }
  /// Has nodes that are attached from now on hand endpoints to the inbox.
  void remember(const std::shared_ptr<EndpointInbox>& inbox);
  /// Has the threads of the nodes that are attached hand endpoints to the inbox.
  void ask_all(const std::shared_ptr<EndpointInbox>& inbox);
  /// Waits until something changes and `done` holds, at most for `bound`.
  void wait(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds bound,
            const std::function<bool()>& done);
  /// Waits until something changes, a few milliseconds at most.
  void wait(std::unique_lock<std::mutex>& lock);

  // These are called without it:

  /// An Attached is a node with the attachment that it had under the lock.
  struct Attached {
    std::uint32_t node = 0;
    std::shared_ptr<Attachment> attachment;
  };
  /// Connects to all at once, and puts an endpoint of each into the inbox. A node that cannot be
  /// connected to is treated as lost. There is at least one.
  static void hand_out_all(std::span<const Attached> attached, EndpointInbox& inbox);
  /// Returns true once they are lost for good.
  bool lost() const { return lost_.load(std::memory_order_relaxed); }
  bool superseded() const;
  std::vector<NodeSet::Member> members() const;

 private:
  void keep(KeptNode& node);
  void attach_once(KeptNode& node);
  void admit(KeptNode& node, const std::shared_ptr<Attachment>& attachment);
  std::vector<std::shared_ptr<EndpointInbox>> use(KeptNode& node,
                                                  const std::shared_ptr<Attachment>& attachment);
  void watch(KeptNode& node);
  void hand_out_asked(KeptNode& node);
  bool stopped_within(std::chrono::milliseconds time);

  const AttachOptions attach_;
  NodeRules& rules_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::weak_ptr<EndpointInbox>> inboxes_;
  std::string failure_;
  // Relaxed: these flags guard no other memory.
  std::atomic<bool> lost_{false};
  std::atomic<bool> stopping_{false};
  std::vector<std::unique_ptr<KeptNode>> nodes_;
};

/// Returns false for a node that ends or has gone.
bool usable(const Attachment& attachment);

}  // namespace farvec::tiers
