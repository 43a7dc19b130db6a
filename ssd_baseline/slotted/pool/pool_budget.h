// A PoolBudget divides one budget of memory over the pools of several indexes, again whenever one
// of them comes or goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "ssd_baseline/slotted/pool/read_buffers.h"

namespace farvec::slotted {

/// PoolNeeds are what the searches of one index take of a budget.
struct PoolNeeds {
  /// What the cores have once for all indexes: of all pools, the largest number counts, and once.
  std::size_t core_bytes = 0;
  std::size_t fixed_bytes = 0;  ///< all else but the pool's slots
  std::size_t slot_bytes = 1;   ///< for each slot; at least 1
  std::size_t most_slots = 0;   ///< the most that it can use; 0: it has no slots
  std::uint64_t weight = 1;     ///< bytes of the index, by which slots are shared out; at least 1

  /// Returns the bytes with which searches work, besides core_bytes.
  std::size_t least_bytes() const { return fixed_bytes + (most_slots > 0 ? slot_bytes : 0); }
};

/// Cores get what they have once. Every pool gets its fixed bytes and one slot. It shares what is
/// left with the others in proportion to the bytes of their indexes; what a pool could not fill
/// goes to the others. Pools give slots up before others get them, so the sum never exceeds the
/// budget. Thread-safe.
class PoolBudget : public std::enable_shared_from_this<PoolBudget> {
 private:
  struct Member;

 public:
  /// Changes how many slots a pool has and returns how many still take memory, which is more than
  /// asked for while some are in use (RecordPool::resize()). It is called under the budget's lock.
  using Resize = std::function<std::size_t(std::size_t slots)>;

  /// What is part of a budget: all that searches keep in memory, or what an index keeps of records
  /// alone, where the memory of searches is counted elsewhere.
  enum class Counts : std::uint8_t { searches_too, records_alone };

  /// The budget must be held by a shared_ptr.
  explicit PoolBudget(std::size_t bytes, Counts counts = Counts::searches_too)
      : bytes_(bytes), counts_(counts) {}

  /// A Share is one pool's part of the budget, which the others get when it ends.
  class Share {
   public:
    Share(std::shared_ptr<PoolBudget> budget, std::list<Member>::iterator member)
        : budget_(std::move(budget)), member_(member) {}
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    /// Returns the bytes that the pool takes now, fixed ones included, core_bytes not.
    std::size_t bytes() const;
    /// The pool is not resized any more. It must be called before the pool ends.
    void detach();

   private:
    const std::shared_ptr<PoolBudget> budget_;
    const std::list<Member>::iterator member_;
  };

  /// Takes in a pool that has no slots yet, and gives it what the others have given up until then;
  /// settle() gives it the rest. It may block for a moment while slots of others are in use. Throws
  /// StatusError: resource_exhausted naming the least budget that suffices for one pool more, or
  /// unavailable when the others have not given up enough in time.
  std::unique_ptr<Share> join(const PoolNeeds& needs, Resize resize);

  /// Goes on with what was left over because slots were in use. It is for threads that search, now
  /// and then.
  void settle();

  /// Has the buffers that the parts of one core read into, of all indexes together.
  CoreBuffers& core_buffers() { return core_buffers_; }

  std::size_t bytes() const { return bytes_; }
  Counts counts() const { return counts_; }
  /// Returns the bytes that cores and pools take now, with slots that pools are still to give up.
  std::size_t used() const;

 private:
  /// A Member is a pool that has a share, or waits for one.
  struct Member {
    PoolNeeds needs;
    Resize resize;           ///< empty: the pool ends
    bool in = false;         ///< its fixed and core bytes are part of what is used
    std::size_t target = 0;  ///< slots that it is to have
    std::size_t asked = 0;   ///< slots that it was last asked to have
    std::size_t held = 0;    ///< slots that take memory

    void ask(std::size_t slots) {
      asked = slots;
      held = resize(slots);
    }
    std::size_t bytes() const { return in ? needs.fixed_bytes + held * needs.slot_bytes : 0; }
  };

  // All of these are called under the lock.
  std::size_t sum(const PoolNeeds& more = {}) const;
  std::size_t most_core_bytes(const PoolNeeds& more = {}) const;
  void require_room(const PoolNeeds& needs) const;
  void divide();
  void move_slots();

  const std::size_t bytes_;
  const Counts counts_;
  CoreBuffers core_buffers_;
  mutable std::mutex mutex_;  ///< guards the members below, and the number of slots of all pools
  std::list<Member> members_;
  bool settled_ = true;  ///< every pool has its share
};

}  // namespace farvec::slotted
