#include "tiers/attach/kept_nodes.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/unreachable_error.h"

namespace farvec::tiers {
namespace {

constexpr std::chrono::milliseconds kTick{10};
constexpr std::chrono::milliseconds kOneAttempt{5'000};
constexpr std::chrono::milliseconds kFirstBackOff{20};
constexpr std::chrono::milliseconds kLastBackOff{1'000};
constexpr std::chrono::milliseconds kSettled{500};

// Flags are relaxed where no lock is held: they guard no other memory.
constexpr auto kRelaxed = std::memory_order_relaxed;

/// A node that cannot be connected to is treated as lost.
void hand_out(const KeptNodes::Attached& attached, EndpointInbox& inbox) {
  try {
    inbox.put(attached.node, attached.attachment->make_endpoint());
  } catch (const std::exception& error) {
    spdlog::warn("memory node {} cannot be read: {}", attached.node, error.what());
    attached.attachment->give_up();
  }
}

}  // namespace

bool usable(const Attachment& attachment) {
  return attachment.alive() && !attachment.draining();
}

KeptNodes::KeptNodes(const std::vector<rpc::Address>& addresses, AttachOptions attach,
                     NodeRules& rules)
    : attach_(std::move(attach)), rules_(rules) {
  if (addresses.empty()) throw Error("no memory node was named");
  for (const rpc::Address& address : addresses) {
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(std::make_unique<KeptNode>(KeptNode{.address = address, .number = number}));
  }
  for (const auto& node : nodes_) {
    node->thread = std::thread([this, &node = *node] { keep(node); });
  }
}

KeptNodes::~KeptNodes() {
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true, kRelaxed);
  }
  changed_.notify_all();
  for (const auto& node : nodes_) node->thread.join();
}

bool KeptNodes::stopped_within(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return stopping_.load(kRelaxed); });
}

/// Runs on a node's thread until the set ends or is lost.
void KeptNodes::keep(KeptNode& node) {
  auto back_off = kFirstBackOff;
  while (!stopping_.load(kRelaxed) && !lost()) {
    try {
      attach_once(node);
      const auto attached = std::chrono::steady_clock::now();
      watch(node);
      // A node that is lost as soon as it is attached is not attached again at full speed.
      if (std::chrono::steady_clock::now() - attached > kSettled) back_off = kFirstBackOff;
    } catch (const UnreachableError& error) {
      const std::lock_guard lock(mutex_);
      node.last_error = error.what();
      node.absent = dynamic_cast<const AbsentError*>(&error) != nullptr;
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex_);
      const bool ready = rules_.ready();
      if (error.what() != node.last_error && ready) spdlog::warn("not used: {}", error.what());
      node.last_error = error.what();
      if (!ready) failure_ = error.what();
    }
    changed_.notify_all();
    if (stopped_within(back_off)) return;
    back_off = std::min(back_off * 2, kLastBackOff);
  }
}

void KeptNodes::attach_once(KeptNode& node) {
  AttachOptions options = attach_;
  options.memory_node = node.address;
  options.wait = kOneAttempt;
  options.await_listener = false;  // keep() tries again
  options.stop = &stopping_;
  admit(node, Attachment::attach(options));
}

void KeptNodes::admit(KeptNode& node, const std::shared_ptr<Attachment>& attachment) {
  const auto inboxes = use(node, attachment);
  for (const auto& inbox : inboxes) hand_out({node.node, attachment}, *inbox);
  bool again = false;
  {
    const std::lock_guard lock(mutex_);
    node.handed_out = true;
    again = std::exchange(node.attached_before, true);
  }
  changed_.notify_all();
  if (rules_.ready()) {
    spdlog::info("memory node {} is attached{} at {}", node.node, again ? " again" : "",
                 rpc::to_string(node.address));
  }
}

/// Has the node use the attachment, if the rules allow it. Returns the cores that need an endpoint.
std::vector<std::shared_ptr<EndpointInbox>> KeptNodes::use(
    KeptNode& node, const std::shared_ptr<Attachment>& attachment) {
  std::vector<std::shared_ptr<EndpointInbox>> inboxes;
  const std::lock_guard lock(mutex_);
  node.node = rules_.admit(node, *attachment);
  node.attachment = attachment;
  node.last_error.clear();
  node.absent = false;
  node.asked.clear();  // the cores are among the inboxes now
  for (const auto& inbox : inboxes_) {
    if (auto held = inbox.lock()) inboxes.push_back(std::move(held));
  }
  return inboxes;
}

void KeptNodes::hand_out_all(std::span<const Attached> attached, EndpointInbox& inbox) {
  // Together they take as long as the slowest one may, not the sum.
  std::vector<std::jthread> others;
  for (const Attached& other : attached.subspan(1)) {
    others.emplace_back([&other, &inbox] { hand_out(other, inbox); });
  }
  hand_out(attached.front(), inbox);
}

void KeptNodes::watch(KeptNode& node) {
  while (usable(*node.attachment)) {
    hand_out_asked(node);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kTick, [&] { return stopping_.load(kRelaxed) || !node.asked.empty(); });
    if (stopping_.load(kRelaxed)) return;
  }
  std::shared_ptr<Attachment> gone;  // released outside the lock
  const std::lock_guard lock(mutex_);
  gone = std::move(node.attachment);
  node.attachment = nullptr;
  node.handed_out = false;
  node.last_error = "it was lost";
  changed_.notify_all();  // wakes threads that wait for an endpoint of it
  if (rules_.lost_with_last() && !any_attached()) lost_.store(true, kRelaxed);
}

/// Connecting to a node that has died takes long, and is no work for a core.
void KeptNodes::hand_out_asked(KeptNode& node) {
  std::vector<std::weak_ptr<EndpointInbox>> asked;
  {
    const std::lock_guard lock(mutex_);
    asked.swap(node.asked);
  }
  for (const auto& core : asked) {
    const std::shared_ptr<EndpointInbox> inbox = core.lock();
    if (inbox == nullptr || !usable(*node.attachment)) continue;
    hand_out({node.node, node.attachment}, *inbox);
    // The lock is needed: a waiter might otherwise look just before and sleep just after.
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
}

bool KeptNodes::any_attached() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const auto& node) { return node->attachment != nullptr; });
}

std::string KeptNodes::missing() const {
  std::string text;
  for (const auto& node : nodes_) {
    if (node->attachment != nullptr) continue;
    const std::string why = node->last_error.empty() ? "no answer yet" : node->last_error;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", rpc::to_string(node->address), why);
  }
  return text;
}

void KeptNodes::remember(const std::shared_ptr<EndpointInbox>& inbox) {
  std::erase_if(inboxes_, [](const auto& other) { return other.expired(); });
  inboxes_.push_back(inbox);
}

void KeptNodes::ask_all(const std::shared_ptr<EndpointInbox>& inbox) {
  for (const auto& node : nodes_) {
    if (node->attachment != nullptr) node->asked.push_back(inbox);
  }
  changed_.notify_all();
}

void KeptNodes::wait(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds bound,
                     const std::function<bool()>& done) {
  changed_.wait_for(lock, bound, done);
}

void KeptNodes::wait(std::unique_lock<std::mutex>& lock) {
  changed_.wait_for(lock, kTick);
}

bool KeptNodes::superseded() const {
  const std::lock_guard lock(mutex_);
  return any_attached() && std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
           return node->attachment == nullptr || node->attachment->superseded();
         });
}

std::vector<NodeSet::Member> KeptNodes::members() const {
  const std::lock_guard lock(mutex_);
  std::vector<NodeSet::Member> members;
  for (const auto& node : nodes_) {
    const bool attached = node->attachment != nullptr && node->handed_out;
    members.push_back({rpc::to_string(node->address), attached, attached ? node->node : 0});
  }
  return members;
}

}  // namespace farvec::tiers
