// A RecordReader brings a core the records of a pool: hits in place, misses by reads that fibers
// share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "coroutines/scheduler.h"
#include "coroutines/wait_group.h"
#include "ssd_baseline/slotted/pool/pages_under_way.h"

namespace farvec::slotted {

/// Belongs to one thread, while the pool is shared. Fibers of this core wait for one read of a
/// page; a fiber waits for a record that another core brings by yielding. A record that finds no
/// slot is read for its search alone. A fiber that holds a page never waits for a buffer, so any
/// pool and any number of buffers work.
template <SharedPool Pool>
class RecordReader {
 public:
  RecordReader(Pool& pool, PageLoader& loader, coroutines::Scheduler& scheduler,
               std::uint32_t lanes, const PagesUnderWayOptions& options)
      : pool_(pool),
        scheduler_(scheduler),
        pages_(pool, loader, options),
        reserve_(options.buffers / 4) {
    for (std::uint32_t l = 0; l < lanes; ++l) lanes_.emplace_back(scheduler);
  }

  /// The sink that is told of the loader's reads.
  PagesUnderWay<Pool>& pages() { return pages_; }
  const PagesUnderWay<Pool>& pages() const { return pages_; }

  /// Calls visit(id, record) -> Status once for each id, in any order; the record is valid during
  /// its call only, and visit must not suspend. It begins with the records in memory, while the
  /// disk brings the rest. It suspends once for that, and more often only when buffers or slots are
  /// short. The first error ends it. Every other record of a page that came for this is visited,
  /// and kept, when wanted(id) is true; it is called after the visit of the record that the page
  /// came for.
  template <typename Visit, typename Wanted>
  Status read(std::uint32_t lane_index, std::span<const NodeId> ids, Ticks deadline, Visit&& visit,
              Wanted&& wanted) {
    Lane& lane = lanes_[lane_index];
    for (NodeId id : ids) lane.open.push_back({id});
    Status status = look_around(deadline);
    while (!lane.open.empty() && status.ok()) {
      status = round(lane, deadline, visit, wanted);
      if (lane.open.empty() || !status.ok()) break;
      if (now_ticks() > deadline) {
        status = {StatusCode::deadline_exceeded, "the deadline passed before a record was free"};
      } else {
        scheduler_.yield();
      }
    }
    for (const Open& open : lane.open) {
      if (open.ticket != kNoSlot) pages_.let_go(open.ticket, *lane.group);
    }
    lane.open.clear();
    return status;
  }

  /// Lets the core's other fibers go on.
  void pause() { scheduler_.yield(); }

  bool resident(NodeId id) const { return pool_.place(id).state == RecordPlace::State::resident; }

  /// Stages a read that the lane's next read() starts, unless the record is there or on its way, or
  /// slots or buffers are short. It never suspends.
  void prefetch(std::uint32_t lane_index, NodeId id) {
    const RecordPlace place = pool_.place(id);
    if (place.state != RecordPlace::State::absent) return;
    PoolCounts& counts = lanes_[lane_index].counts;
    const std::uint32_t under_way = pages_.find(place.page);
    const bool room = under_way != kNoSlot || pages_.unused() > reserve_;
    const SlotClaim claim = room ? claim_slot(id, place.page, kPrefetchSteps, counts) : SlotClaim{};
    if (claim.outcome == SlotClaim::Outcome::none) ++counts.skipped_prefetches;
    if (claim.outcome != SlotClaim::Outcome::claimed) return;
    if (under_way != kNoSlot) return pages_.attach(under_way, id, claim.slot);
    pages_.attach(stage(place.page, counts), id, claim.slot);
    ++counts.prefetches;
  }

  /// Returns what one lane has caused since the beginning.
  const PoolCounts& counts(std::uint32_t lane) const { return lanes_[lane].counts; }
  PoolCounts counts() const {
    PoolCounts sum = pages_.counts();
    for (const Lane& lane : lanes_) sum += lane.counts;
    return sum;
  }
  std::size_t dram_bytes() const { return pages_.dram_bytes() + lanes_.capacity() * sizeof(Lane); }

 private:
  static constexpr std::uint32_t kReadsPerPoll = 4;
  // These bound the work for one slot: a demand yields after each try.
  static constexpr std::uint32_t kDemandSteps = 64;
  static constexpr std::uint32_t kDemandTries = 8;
  static constexpr std::uint32_t kPrefetchSteps = 16;

  /// An Open is a record that a lane has asked for and not seen yet.
  struct Open {
    NodeId id;
    std::uint32_t ticket = kNoSlot;  ///< that of the page that brings it
    bool missed = false;
  };
  struct Lane {
    explicit Lane(coroutines::Scheduler& scheduler)
        : group(std::make_unique<coroutines::WaitGroup>(scheduler)) {}
    std::unique_ptr<coroutines::WaitGroup> group;
    std::vector<Open> open;
    PoolCounts counts;
  };

  /// Polls and checks the deadline from time to time. A search that finds everything in memory goes
  /// on for long without suspending; what was prefetched for it has to become resident all the
  /// same, and its time may be over.
  Status look_around(Ticks deadline) {
    if (++reads_since_poll_ < kReadsPerPoll) return {};
    reads_since_poll_ = 0;
    pages_.poll();
    if (now_ticks() <= deadline) return {};
    return {StatusCode::deadline_exceeded, "the deadline passed during the search"};
  }

  /// Brings the records that can be brought now.
  template <typename Visit, typename Wanted>
  Status round(Lane& lane, Ticks deadline, Visit& visit, Wanted& wanted) {
    for (Open& open : lane.open) begin(lane, open);
    pages_.flush();
    Status status = visit_resident(lane, visit);
    if (status.ok()) status = lane.group->wait(deadline);
    return status.ok() ? visit_arrived(lane, visit, wanted) : status;
  }

  /// Finds or starts the read that brings a record, unless it is resident, another core brings it,
  /// or no buffer is free.
  void begin(Lane& lane, Open& open) {
    for (std::uint32_t tries = 1;; ++tries) {
      const RecordPlace place = pool_.place(open.id);
      if (place.state == RecordPlace::State::resident) return;
      note_miss(lane, open);
      const std::uint32_t under_way =
          place.page != kNoPage ? pages_.find(place.page) : pages_.find_target(open.id);
      if (under_way != kNoSlot) return join(lane, open, under_way, place);
      if (place.state == RecordPlace::State::loading || pages_.unused() == 0) return;
      const SlotClaim claim = claim_slot(open.id, place.page, kDemandSteps, lane.counts);
      if (claim.outcome == SlotClaim::Outcome::taken) return;
      if (claim.outcome == SlotClaim::Outcome::none && tries < kDemandTries) {
        pages_.flush();  // so that the others need not wait for this one
        scheduler_.yield();
        continue;
      }
      hold(lane, open, stage(place.page, lane.counts));
      if (claim.outcome == SlotClaim::Outcome::claimed) {
        pages_.attach(open.ticket, open.id, claim.slot);
      } else {
        ++lane.counts.bypasses;
      }
      return;
    }
  }

  void join(Lane& lane, Open& open, std::uint32_t ticket, const RecordPlace& place) {
    ++lane.counts.shared;
    hold(lane, open, ticket);
    if (place.state != RecordPlace::State::absent) return;
    const SlotClaim claim = claim_slot(open.id, place.page, kPrefetchSteps, lane.counts);
    if (claim.outcome == SlotClaim::Outcome::claimed) pages_.attach(ticket, open.id, claim.slot);
  }

  void hold(Lane& lane, Open& open, std::uint32_t ticket) {
    open.ticket = ticket;
    pages_.hold(ticket, *lane.group);
  }

  static void note_miss(Lane& lane, Open& open) {
    if (!open.missed) ++lane.counts.misses;
    open.missed = true;
  }

  SlotClaim claim_slot(NodeId id, std::uint32_t page, std::uint32_t steps, PoolCounts& counts) {
    const SlotClaim claim = pool_.claim(id, page, steps);
    counts.evictions += claim.evicted ? 1 : 0;
    return claim;
  }

  std::uint32_t stage(std::uint32_t page, PoolCounts& counts) {
    ++counts.reads;
    return pages_.stage(page);
  }

  template <typename Visit>
  Status visit_resident(Lane& lane, Visit& visit) {
    return visit_some(lane, [&](const Open& open, bool& seen) {
      Status status;
      if (open.ticket != kNoSlot) return status;
      seen = pool_.read(
          open.id, [&](std::span<const std::byte> record) { return visit(open.id, record); },
          status);
      if (seen && !open.missed) ++lane.counts.hits;
      return status;
    });
  }

  template <typename Visit, typename Wanted>
  Status visit_arrived(Lane& lane, Visit& visit, Wanted& wanted) {
    return visit_some(lane, [&](const Open& open, bool& seen) -> Status {
      if (open.ticket == kNoSlot) return {};
      const auto record = pages_.record(open.ticket, open.id);
      Status status = record.ok() ? visit(open.id, record.value()) : record.status();
      if (status.ok()) status = visit_along(lane, open.ticket, visit, wanted);
      seen = true;
      pages_.let_go(open.ticket, *lane.group);
      return status;
    });
  }

  template <typename Visit, typename Wanted>
  Status visit_along(Lane& lane, std::uint32_t ticket, Visit& visit, Wanted& wanted) {
    Status status;
    pages_.for_each(ticket, [&](NodeId id, std::span<const std::byte> record) {
      if (!status.ok() || !wanted(id)) return;
      ++lane.counts.along;
      status = visit(id, record);
      const RecordPlace place = pool_.place(id);
      if (place.state != RecordPlace::State::absent) return;
      const SlotClaim claim = claim_slot(id, place.page, kPrefetchSteps, lane.counts);
      if (claim.outcome == SlotClaim::Outcome::claimed) pages_.attach(ticket, id, claim.slot);
    });
    return status;
  }

  /// Removes the entries that try_one() has seen.
  template <typename TryOne>
  static Status visit_some(Lane& lane, const TryOne& try_one) {
    std::size_t left = 0;
    Status status;
    for (const Open open : lane.open) {
      bool seen = false;
      if (status.ok()) status = try_one(open, seen);
      if (!seen) lane.open[left++] = open;
    }
    lane.open.resize(left);
    return status;
  }

  Pool& pool_;
  coroutines::Scheduler& scheduler_;
  PagesUnderWay<Pool> pages_;
  const std::size_t reserve_;  ///< buffers that prefetches leave free
  std::vector<Lane> lanes_;
  std::uint32_t reads_since_poll_ = 0;
};

}  // namespace farvec::slotted
