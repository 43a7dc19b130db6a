#include "tiers/attach/node_set.h"

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

// Flags of the set are relaxed where no lock is held: they guard no other memory.
constexpr auto kRelaxed = std::memory_order_relaxed;

bool usable(const Attachment& attachment) {
  return attachment.alive() && !attachment.draining();
}

std::unique_ptr<const layout::Manifest> placed_copies(const layout::Manifest& manifest,
                                                      std::size_t nodes) {
  if (nodes > layout::PlacedExtent::kMaxCopies || manifest.placement) {
    throw Error(
        "{} memory nodes cannot have copies of an index: at most {}, of one without a placement",
        nodes, layout::PlacedExtent::kMaxCopies);
  }
  auto placed = std::make_unique<layout::Manifest>(manifest);
  placed->placement =
      layout::full_copies(manifest.region_bytes(), static_cast<std::uint32_t>(nodes));
  return placed;
}

}  // namespace

NodeSet::NodeSet(NodeSetOptions options) : options_(std::move(options)) {
  if (options_.addresses.empty()) throw Error("no memory node was named");
  for (const rpc::Address& address : options_.addresses) {
    keepers_.push_back(std::make_unique<Keeper>());
    keepers_.back()->address = address;
    keepers_.back()->number = static_cast<std::uint32_t>(keepers_.size() - 1);
  }
  if (options_.copies_of != nullptr) {
    manifest_ = placed_copies(*options_.copies_of, keepers_.size());
    manifest_text_ = layout::manifest_to_json(*options_.copies_of);
    ready_.store(true, kRelaxed);
  }
  for (const auto& keeper : keepers_) {
    keeper->thread = std::thread([this, &keeper = *keeper] { keep(keeper); });
  }
}

NodeSet::~NodeSet() {
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true, kRelaxed);
  }
  changed_.notify_all();
  for (const auto& keeper : keepers_) keeper->thread.join();
}

bool NodeSet::stopped_within(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return stopping_.load(kRelaxed); });
}

/// Runs on a node's thread until the set ends or is lost.
void NodeSet::keep(Keeper& keeper) {
  auto back_off = kFirstBackOff;
  while (!stopping_.load(kRelaxed) && !lost_.load(kRelaxed)) {
    try {
      attach_once(keeper);
      const auto attached = std::chrono::steady_clock::now();
      watch(keeper);
      // A node that is lost as soon as it is attached is not attached again at full speed.
      if (std::chrono::steady_clock::now() - attached > kSettled) back_off = kFirstBackOff;
    } catch (const UnreachableError& error) {
      const std::lock_guard lock(mutex_);
      keeper.last_error = error.what();
      keeper.absent = dynamic_cast<const AbsentError*>(&error) != nullptr;
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex_);
      if (error.what() != keeper.last_error && ready_.load(kRelaxed))
        spdlog::warn("not used: {}", error.what());
      keeper.last_error = error.what();
      if (!ready_.load(kRelaxed)) failure_ = error.what();
    }
    changed_.notify_all();
    if (stopped_within(back_off)) return;
    back_off = std::min(back_off * 2, kLastBackOff);
  }
}

void NodeSet::attach_once(Keeper& keeper) {
  AttachOptions options = options_.attach;
  options.memory_node = keeper.address;
  options.wait = kOneAttempt;
  options.await_listener = false;  // keep() tries again
  options.stop = &stopping_;
  admit(keeper, Attachment::attach(options));
}

void NodeSet::admit(Keeper& keeper, const std::shared_ptr<Attachment>& attachment) {
  std::vector<std::shared_ptr<EndpointInbox>> inboxes;
  {
    const std::lock_guard lock(mutex_);
    if (!ready_.load(kRelaxed) && !any_attached()) {
      manifest_ = std::make_unique<const layout::Manifest>(attachment->manifest());
      manifest_text_ = layout::manifest_to_json(*manifest_);
      generation_ = attachment->generation();
    }
    require_same(keeper, *attachment);
    keeper.attachment = attachment;
    keeper.last_error.clear();
    keeper.absent = false;
    keeper.asked.clear();  // the cores are among the inboxes now
    for (const auto& inbox : inboxes_) {
      if (auto held = inbox.lock()) inboxes.push_back(std::move(held));
    }
  }
  const Attached attached{node_of(keeper, *attachment), attachment};
  for (const auto& inbox : inboxes) hand_out(attached, *inbox);
  bool again = false;
  {
    const std::lock_guard lock(mutex_);
    keeper.handed_out = true;
    again = std::exchange(keeper.attached_before, true);
  }
  changed_.notify_all();
  if (ready_.load(kRelaxed)) {
    spdlog::info("memory node {} is attached{} at {}", attached.node, again ? " again" : "",
                 rpc::to_string(keeper.address));
  }
}

std::uint32_t NodeSet::node_of(const Keeper& keeper, const Attachment& attachment) const {
  return options_.copies_of != nullptr ? keeper.number : attachment.node();
}

void NodeSet::require_same(const Keeper& keeper, const Attachment& attachment) const {
  if (layout::manifest_to_json(attachment.manifest()) != manifest_text_) {
    throw Error(
        "the memory node at {} serves another index, or the index in another placement, "
        "than the nodes before it: start all of them on one index directory",
        rpc::to_string(keeper.address));
  }
  for (const auto& other : keepers_) {
    if (other.get() == &keeper || other->attachment == nullptr) continue;
    if (node_of(*other, *other->attachment) != node_of(keeper, attachment)) continue;
    throw Error(
        "the memory nodes at {} and {} both say that they are node {} of the placement: "
        "give each its own --node",
        rpc::to_string(other->address), rpc::to_string(keeper.address), attachment.node());
  }
}

/// A node that cannot be connected to is treated as lost.
void NodeSet::hand_out(const Attached& attached, EndpointInbox& inbox) {
  try {
    inbox.put(attached.node, attached.attachment->make_endpoint());
  } catch (const std::exception& error) {
    spdlog::warn("memory node {} cannot be read: {}", attached.node, error.what());
    attached.attachment->give_up();
  }
}

/// Connects all at once: together they take as long as the slowest one may, not the sum.
void NodeSet::hand_out_all(std::span<const Attached> attached, EndpointInbox& inbox) {
  std::vector<std::jthread> others;
  for (const Attached& other : attached.subspan(1)) {
    others.emplace_back([this, &other, &inbox] { hand_out(other, inbox); });
  }
  hand_out(attached.front(), inbox);
}

void NodeSet::watch(Keeper& keeper) {
  while (usable(*keeper.attachment)) {
    hand_out_asked(keeper);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kTick,
                      [&] { return stopping_.load(kRelaxed) || !keeper.asked.empty(); });
    if (stopping_.load(kRelaxed)) return;
  }
  std::shared_ptr<Attachment> gone;  // released outside the lock
  const std::lock_guard lock(mutex_);
  gone = std::move(keeper.attachment);
  keeper.attachment = nullptr;
  keeper.handed_out = false;
  keeper.last_error = "it was lost";
  changed_.notify_all();  // wakes threads that wait for an endpoint of it
  const bool may_come_back = !ready_.load(kRelaxed) || options_.copies_of != nullptr;
  if (!may_come_back && !any_attached()) lost_.store(true, kRelaxed);
}

/// Connecting to a node that has died takes long, and is no work for a core.
void NodeSet::hand_out_asked(Keeper& keeper) {
  std::vector<std::weak_ptr<EndpointInbox>> asked;
  {
    const std::lock_guard lock(mutex_);
    asked.swap(keeper.asked);
  }
  for (const auto& core : asked) {
    const std::shared_ptr<EndpointInbox> inbox = core.lock();
    if (inbox == nullptr || !usable(*keeper.attachment)) continue;
    hand_out({node_of(keeper, *keeper.attachment), keeper.attachment}, *inbox);
    // The lock is needed: a waiter might otherwise look just before and sleep just after.
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
}

/// Called under the lock.
bool NodeSet::any_attached() const {
  return std::any_of(keepers_.begin(), keepers_.end(),
                     [](const auto& keeper) { return keeper->attachment != nullptr; });
}

bool NodeSet::superseded() const {
  const std::lock_guard lock(mutex_);
  return any_attached() && std::all_of(keepers_.begin(), keepers_.end(), [](const auto& keeper) {
           return keeper->attachment == nullptr || keeper->attachment->superseded();
         });
}

bool NodeSet::alive() const {
  return !lost_.load(kRelaxed) && (only_ == nullptr || usable(*only_));
}

void NodeSet::wait_ready(std::chrono::milliseconds bound, const std::atomic<bool>* stop) {
  const auto end = std::chrono::steady_clock::now() + bound;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!failure_.empty()) throw Error("{}", std::exchange(failure_, {}));
    const bool all = std::all_of(keepers_.begin(), keepers_.end(),
                                 [](const auto& keeper) { return keeper->attachment != nullptr; });
    const bool decided = !options_.await_absent &&
                         std::all_of(keepers_.begin(), keepers_.end(), [](const auto& keeper) {
                           return keeper->attachment != nullptr || keeper->absent;
                         });
    const bool stopped = stop != nullptr && stop->load(kRelaxed);
    if (options_.copies_of != nullptr && holds_everything()) return;
    if (all && !holds_everything()) {
      throw Error(
          "the index is placed over {} memory nodes, and the {} that were named do not hold "
          "all of it: name the others too",
          manifest_->memory_nodes(), keepers_.size());
    }
    if (all || decided || stopped || std::chrono::steady_clock::now() >= end) break;
    changed_.wait_for(lock, kTick);
  }
  if (!holds_everything()) throw UnreachableError("{}", missing());
  if (const std::string names = missing(); !names.empty()) spdlog::warn("begins without {}", names);
  if (!manifest_->placement) only_ = keepers_.front()->attachment;
  ready_.store(true, kRelaxed);
}

/// Called under the lock. All of the codes and offsets are needed.
bool NodeSet::holds_everything() const {
  if (manifest_ == nullptr) return false;
  std::vector<bool> here(manifest_->memory_nodes());
  for (const auto& keeper : keepers_) {
    if (keeper->attachment != nullptr) here[node_of(*keeper, *keeper->attachment)] = true;
  }
  if (!manifest_->placement) return here[0];
  for (std::uint32_t r = 0; r < layout::kRegionCount; ++r) {
    if (r == layout::kRecordsRegion && options_.partial) continue;
    for (const layout::PlacedExtent& extent : manifest_->placement->regions[r].extents()) {
      const auto copies = std::span(extent.copies).first(extent.copy_count);
      if (std::none_of(copies.begin(), copies.end(),
                       [&](const auto& copy) { return here[copy.node]; })) {
        return false;
      }
    }
  }
  return true;
}

/// Called under the lock. Returns which nodes are not attached, and why; empty when all are.
std::string NodeSet::missing() const {
  std::string text;
  for (const auto& keeper : keepers_) {
    if (keeper->attachment != nullptr) continue;
    const std::string why = keeper->last_error.empty() ? "no answer yet" : keeper->last_error;
    text +=
        fmt::format("{}{} ({})", text.empty() ? "" : ", ", rpc::to_string(keeper->address), why);
  }
  return text;
}

std::shared_ptr<const transport::RegionSet> NodeSet::regions() const {
  const std::lock_guard lock(mutex_);
  if (manifest_->placement || keepers_.front()->attachment == nullptr) return nullptr;
  return keepers_.front()->attachment->regions();
}

/// Called under the lock. Nodes that come later find the inbox.
void NodeSet::remember(const std::shared_ptr<EndpointInbox>& inbox) {
  std::erase_if(inboxes_, [](const auto& other) { return other.expired(); });
  inboxes_.push_back(inbox);
}

std::unique_ptr<transport::Endpoint> NodeSet::make_copies_endpoint() {
  auto inbox = std::make_shared<EndpointInbox>(manifest_->memory_nodes());
  {
    std::unique_lock lock(mutex_);
    if (!any_attached()) throw UnreachableError("{}", missing());
    remember(inbox);
    for (const auto& keeper : keepers_) {
      if (keeper->attachment != nullptr) keeper->asked.push_back(inbox);
    }
    changed_.notify_all();
    // Connecting through a device may take longer than a read; a node that fails to is given up.
    const auto bound = std::max(options_.placed.node_timeout, options_.attach.connect_timeout);
    changed_.wait_for(lock, bound, [&] { return inbox->has_any() || !any_attached(); });
  }
  if (!inbox->has_any()) throw UnreachableError("none of the memory nodes can be read");
  return std::make_unique<PlacedEndpoint>(*manifest_->placement, std::move(inbox), options_.placed);
}

std::unique_ptr<transport::Endpoint> NodeSet::make_endpoint() {
  if (options_.copies_of != nullptr) return make_copies_endpoint();
  std::vector<Attached> attached;
  auto inbox = std::make_shared<EndpointInbox>(manifest_->memory_nodes());
  {
    // Both in one lock, so that a node that comes meanwhile is seen here or sees the inbox.
    const std::lock_guard lock(mutex_);
    for (const auto& keeper : keepers_) {
      if (keeper->attachment == nullptr) continue;
      attached.push_back({node_of(*keeper, *keeper->attachment), keeper->attachment});
    }
    if (manifest_->placement) remember(inbox);
  }
  if (attached.empty()) throw UnreachableError("{}", "the memory node is gone");
  if (!manifest_->placement) return attached.front().attachment->make_endpoint();
  hand_out_all(attached, *inbox);
  if (!inbox->has_any()) throw UnreachableError("none of the memory nodes can be read");
  return std::make_unique<PlacedEndpoint>(*manifest_->placement, std::move(inbox), options_.placed);
}

std::vector<NodeSet::Member> NodeSet::members() const {
  const std::lock_guard lock(mutex_);
  std::vector<Member> members;
  for (const auto& keeper : keepers_) {
    const bool attached = keeper->attachment != nullptr && keeper->handed_out;
    members.push_back({rpc::to_string(keeper->address), attached,
                       attached ? node_of(*keeper, *keeper->attachment) : 0});
  }
  return members;
}

}  // namespace farvec::tiers
