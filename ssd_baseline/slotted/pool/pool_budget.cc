#include "ssd_baseline/slotted/pool/pool_budget.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "base/status_error.h"

namespace farvec::slotted {
namespace {

/// A pool that joins waits at most this long for slots of others, which are in use for as long as
/// the disk reads a page.
constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kPause = std::chrono::milliseconds(1);

}  // namespace

PoolBudget::Share::~Share() {
  const std::lock_guard lock(budget_->mutex_);
  budget_->members_.erase(member_);
  budget_->divide();
  budget_->move_slots();
}

std::size_t PoolBudget::Share::bytes() const {
  const std::lock_guard lock(budget_->mutex_);
  return member_->bytes();
}

void PoolBudget::Share::detach() {
  const std::lock_guard lock(budget_->mutex_);
  member_->resize = nullptr;
}

std::unique_ptr<PoolBudget::Share> PoolBudget::join(const PoolNeeds& needs, Resize resize) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  std::unique_lock lock(mutex_);
  require_room(needs);
  const auto member = members_.insert(members_.end(), Member{needs, std::move(resize)});
  divide();
  for (;;) {
    move_slots();
    if (sum(needs) <= bytes_) break;
    if (std::chrono::steady_clock::now() >= give_up) {
      members_.erase(member);
      divide();
      move_slots();
      throw StatusError(StatusCode::unavailable,
                        "the pools of other indexes have not given up memory in time: try again");
    }
    lock.unlock();
    std::this_thread::sleep_for(kPause);
    lock.lock();
  }
  member->in = true;
  move_slots();
  lock.unlock();
  return std::make_unique<Share>(shared_from_this(), member);
}

void PoolBudget::settle() {
  const std::lock_guard lock(mutex_);
  if (!settled_) move_slots();
}

std::size_t PoolBudget::used() const {
  const std::lock_guard lock(mutex_);
  return sum();
}

/// Returns what the pools that are in take, and a pool with these needs.
std::size_t PoolBudget::sum(const PoolNeeds& more) const {
  std::size_t core_bytes = more.core_bytes;
  std::size_t bytes = more.fixed_bytes;
  for (const Member& member : members_) {
    if (!member.in) continue;
    core_bytes = std::max(core_bytes, member.needs.core_bytes);
    bytes += member.bytes();
  }
  return core_bytes + bytes;
}

/// Returns what cores need when all pools are in, and a pool with these needs.
std::size_t PoolBudget::most_core_bytes(const PoolNeeds& more) const {
  std::size_t most = more.core_bytes;
  for (const Member& member : members_) most = std::max(most, member.needs.core_bytes);
  return most;
}

void PoolBudget::require_room(const PoolNeeds& needs) const {
  const std::size_t core_bytes = most_core_bytes(needs);
  std::size_t least = needs.least_bytes();
  for (const Member& member : members_) least += member.needs.least_bytes();
  const std::size_t all = core_bytes + least;
  if (all <= bytes_) return;
  if (counts_ == Counts::records_alone) {
    throw StatusError(StatusCode::resource_exhausted,
                      "a pool of {} bytes is too small for {} segments of slotted pages: {} are "
                      "needed for where their records are, and one record each",
                      bytes_, members_.size() + 1, all);
  }
  throw StatusError(
      StatusCode::resource_exhausted,
      "a memory budget of {} bytes is too small for {} pools: {} are needed, {} for "
      "what cores share and {} for the pools' maps, searches and one record each: use "
      "--memory-budget {} or fewer --slots, or shorter lists",
      bytes_, members_.size() + 1, all, core_bytes, least, all);
}

/// Says how many slots each pool is to have. Pools that can be filled are filled, and the others
/// share the rest.
void PoolBudget::divide() {
  double rest = static_cast<double>(bytes_) - static_cast<double>(most_core_bytes());
  std::vector<Member*> open;
  for (Member& member : members_) {
    rest -= static_cast<double>(member.needs.least_bytes());
    member.target = std::min<std::size_t>(member.needs.most_slots, 1);
    if (member.needs.most_slots > 1) open.push_back(&member);
  }
  const auto part_of = [](const Member& member, double bytes, double weights) {
    return bytes * static_cast<double>(member.needs.weight) / weights;
  };
  for (bool filled = true; filled && !open.empty();) {
    double weights = 0;
    for (const Member* member : open) weights += static_cast<double>(member->needs.weight);
    const double shared = rest;
    const std::size_t before = open.size();
    std::erase_if(open, [&](Member* member) {
      const PoolNeeds& needs = member->needs;
      const auto all = static_cast<double>((needs.most_slots - 1) * needs.slot_bytes);
      if (part_of(*member, shared, weights) < all) return false;
      member->target = needs.most_slots;
      rest -= all;
      return true;
    });
    filled = open.size() < before;
    if (filled) continue;
    for (Member* member : open) {
      const double part = std::max(part_of(*member, shared, weights), 0.0);
      member->target += static_cast<std::size_t>(part) / member->needs.slot_bytes;
    }
  }
}

/// Takes slots from pools that have too many, and gives others as many as that allows.
void PoolBudget::move_slots() {
  for (Member& member : members_) {
    const bool has_more = member.held > member.target || member.asked > member.target;
    if (has_more && member.resize) member.ask(member.target);
  }
  const std::size_t used = sum();
  std::size_t free = bytes_ - std::min(used, bytes_);
  settled_ = true;
  for (Member& member : members_) {
    if (member.in && member.resize && member.held <= member.target) {
      const std::size_t more =
          std::min(member.target - member.held, free / member.needs.slot_bytes);
      if (member.held + more > member.asked) member.ask(member.held + more);
      free -= more * member.needs.slot_bytes;
    }
    settled_ = settled_ && member.held == member.target && member.asked == member.target;
  }
}

}  // namespace farvec::slotted
