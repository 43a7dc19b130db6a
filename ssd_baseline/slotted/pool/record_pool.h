// A RecordPool keeps records in DRAM, each in a slot of its own: VeloANN's buffer pool (section
// 3.2).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/memory.h"
#include "ssd_baseline/slotted/pool/pool_concept.h"
#include "ssd_baseline/slotted/pool/slot_word.h"

namespace farvec::slotted {

/// All cores share it. The record mapping array has for each record either its page, or, with the
/// top bit set, its slot. A slot that is Locked stands for a record on its way. Nothing here waits:
/// a caller that finds no slot within its steps gets none.
///
/// The array's entries change hands like this: the caller that claims a slot turns an entry with a
/// page into that slot by compare-exchange; only the slot's owner turns it into a page again.
template <PageCodec CodecType>
class RecordPool {
 public:
  using Codec = CodecType;
  static constexpr std::uint32_t kResidentBit = 1u << 31;

  struct Options {
    std::size_t slots = 0;  ///< the most that it ever has
    std::uint32_t max_record_bytes = 0;
    bool along =
        true;  ///< other records of a page that was read may stay with the one it was read for
    bool begin_empty = false;  ///< without slots, until resize() gives it some
  };
  /// `map` holds the page of every record, below 2^31. It must outlive the pool, which owns it
  /// until then. Throws SystemError when there is not enough memory.
  RecordPool(Codec codec, std::span<std::uint32_t> map, const Options& options)
      : codec_(std::move(codec)),
        map_(map),
        most_slots_(options.slots),
        max_record_bytes_(options.max_record_bytes),
        along_(options.along),
        stride_(slot_bytes(options.max_record_bytes)),
        memory_(options.slots * stride_) {
    FARVEC_CHECK(options.slots < kResidentBit);
    if (!options.begin_empty) (void)resize(most_slots_);
  }

  /// Returns the bytes of a budget that a slot takes.
  static std::size_t slot_bytes(std::uint32_t max_record_bytes) {
    return round_up(sizeof(Slot) + max_record_bytes, alignof(Slot));
  }

  const Codec& codec() const { return codec_; }
  std::size_t slots() const { return slots_.load(std::memory_order_relaxed); }
  std::size_t dram_bytes() const { return slots() * stride_; }

  /// Gives the pool more slots or fewer, at most as many as it was made with, while others use it.
  /// Slots from `slots` on are emptied from the last one down, and their memory goes back to the
  /// kernel. Returns how many slots still have memory. That is more than `slots` when one of them
  /// was pinned or waited for its record: the next call goes on from there. One thread at a time
  /// may call it.
  std::size_t resize(std::size_t slots) {
    FARVEC_CHECK(slots <= most_slots_);
    // Relaxed: a thread that sees a former number finds slots that are Locked.
    slots_.store(slots, std::memory_order_relaxed);
    for (; held_ < slots; ++held_) slot_at(static_cast<std::uint32_t>(held_)).word.set_free();
    const std::size_t before = held_;
    while (held_ > slots && retire(slot_at(static_cast<std::uint32_t>(held_ - 1)))) --held_;
    if (held_ < before) memory_.discard_from(held_ * stride_);
    return held_;
  }

  RecordPlace place(NodeId id) const {
    // Acquire: pairs with restore_page().
    const std::uint32_t entry = entry_of(id).load(std::memory_order_acquire);
    if ((entry & kResidentBit) == 0) return {RecordPlace::State::absent, entry};
    // No page is given: the slot may be another record's by now, whose page would be the wrong one.
    const bool readable = slot_at(entry & ~kResidentBit).word.readable();
    return {readable ? RecordPlace::State::resident : RecordPlace::State::loading};
  }

  template <typename Visit>
  bool read(NodeId id, Visit&& visit, Status& status) {
    // Relaxed: the pin orders what is read of the slot, and the slot's id tells whether it is the
    // right one.
    const std::uint32_t entry = entry_of(id).load(std::memory_order_relaxed);
    if ((entry & kResidentBit) == 0) return false;
    Slot& slot = slot_at(entry & ~kResidentBit);
    if (!slot.word.pin()) return false;
    const bool found = slot.id == id;
    if (found) status = visit(std::span<const std::byte>(bytes_of(slot), slot.bytes));
    slot.word.unpin();
    return found;
  }

  SlotClaim claim(NodeId id, std::uint32_t page, std::uint32_t steps) {
    SlotClaim claim = advance_hand(steps);
    if (claim.outcome == SlotClaim::Outcome::none) return claim;
    Slot& slot = slot_at(claim.slot);
    slot.id = id;
    slot.page = page;
    std::uint32_t expected = page;
    if (!entry_of(id).compare_exchange_strong(expected, claim.slot | kResidentBit,
                                              std::memory_order_release,
                                              std::memory_order_relaxed)) {
      slot.word.set_free();
      claim.slot = kNoSlot;
      claim.outcome = SlotClaim::Outcome::taken;
    }
    return claim;
  }

  void fill(std::uint32_t slot, NodeId id, const typename Codec::Page& page) {
    const auto record = codec_.find(page, id);
    if (record.ok()) {
      put(slot, record.value(), SlotWord::State::occupied);
    } else {
      release(slot);
    }
  }

  void release(std::uint32_t index) {
    Slot& slot = slot_at(index);
    restore_page(slot);
    slot.word.set_free();
  }

  /// Keeps the affine records. Until the hand has been around once, which is when every slot has
  /// been used, it keeps all of the page. Records taken along begin Marked: the hand's next visit
  /// evicts them unless they have been asked for.
  std::pair<std::uint32_t, std::uint32_t> take_along(NodeId id, std::uint32_t page_number,
                                                     const typename Codec::Page& page) {
    std::uint32_t kept = 0;
    std::uint32_t evicted = 0;
    if (!along_) return {kept, evicted};
    const auto take = [&](NodeId other, std::span<const std::byte> record) {
      if (other >= map_.size() || record.size() > max_record_bytes_) return;
      if (place(other).state != RecordPlace::State::absent) return;
      const SlotClaim claimed = claim(other, page_number, kAlongSteps);
      evicted += claimed.evicted ? 1 : 0;
      if (claimed.outcome != SlotClaim::Outcome::claimed) return;
      put(claimed.slot, record, SlotWord::State::marked);
      ++kept;
    };
    codec_.for_each_affine(page, id, take);
    codec_.for_each(page, [&](NodeId other, std::span<const std::byte> record) {
      if (first_round()) take(other, record);
    });
    return {kept, evicted};
  }

 private:
  static constexpr std::uint32_t kAlongSteps = 4;

  /// Stands in front of the record's bytes, so that a hit touches one place. Memory of zeros is a
  /// slot that is Locked.
  struct alignas(16) Slot {
    SlotWord word;
    std::uint32_t page = 0;    ///< for the owner
    NodeId id = kInvalidNode;  ///< the owner may write it, a pin may read it
    std::uint32_t bytes = 0;   ///< for owner and pins in the same way
  };
  static_assert(sizeof(Slot) == 16);

  std::atomic_ref<std::uint32_t> entry_of(NodeId id) const {
    return std::atomic_ref<std::uint32_t>(map_[id]);
  }
  Slot& slot_at(std::uint32_t index) const {
    auto* memory = const_cast<std::byte*>(memory_.data());
    return *std::launder(reinterpret_cast<Slot*>(memory + std::size_t{index} * stride_));
  }
  static std::byte* bytes_of(Slot& slot) {
    return reinterpret_cast<std::byte*>(&slot) + sizeof(Slot);
  }

  /// Returns true in the hand's first round. Relaxed, because it is only a hint.
  bool first_round() const { return hand_.load(std::memory_order_relaxed) < slots(); }

  /// Empties the slot and leaves it Locked for good. False when it is pinned, or Locked.
  bool retire(Slot& slot) {
    for (int visit = 0; visit < 2; ++visit) {
      const SlotWord::Step step = slot.word.pass();
      if (step == SlotWord::Step::claimed_marked) restore_page(slot);
      if (step != SlotWord::Step::passed) return true;
    }
    return false;
  }

  SlotClaim advance_hand(std::uint32_t steps) {
    const std::size_t slots = this->slots();
    if (slots == 0) return {};
    for (std::uint32_t i = 0; i < steps; ++i) {
      // Relaxed: it only has to give every core another slot to examine.
      const auto at =
          static_cast<std::uint32_t>(hand_.fetch_add(1, std::memory_order_relaxed) % slots);
      Slot& slot = slot_at(at);
      const SlotWord::Step step = slot.word.pass();
      if (step == SlotWord::Step::passed) continue;
      const bool evicted = step == SlotWord::Step::claimed_marked;
      if (evicted) restore_page(slot);
      return {SlotClaim::Outcome::claimed, at, evicted};
    }
    return {};
  }

  /// Makes the map name the page of the slot's record again. The caller has Locked the slot.
  void restore_page(Slot& slot) {
    // Release: a thread that reads the page here and claims another slot does so after this one's
    // end.
    entry_of(slot.id).store(slot.page, std::memory_order_release);
  }

  void put(std::uint32_t index, std::span<const std::byte> record, SlotWord::State state) {
    Slot& slot = slot_at(index);
    if (record.size() > max_record_bytes_) return release(index);
    slot.bytes = static_cast<std::uint32_t>(record.size());
    std::memcpy(bytes_of(slot), record.data(), record.size());
    slot.word.publish(state);
  }

  const Codec codec_;
  const std::span<std::uint32_t> map_;
  const std::size_t most_slots_;
  const std::uint32_t max_record_bytes_;
  const bool along_;
  const std::size_t stride_;
  HugeBuffer memory_;
  std::size_t held_ = 0;  ///< slots before this one have memory; for resize()
  std::atomic<std::size_t> slots_{0};
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> hand_{0};
};

}  // namespace farvec::slotted
