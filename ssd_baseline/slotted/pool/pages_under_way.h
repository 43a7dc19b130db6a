// The class PagesUnderWay holds one core's pages on their way from the disk into a pool, and the
// fibers that wait for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "coroutines/wait_group.h"
#include "ssd_baseline/slotted/pool/page_loader.h"
#include "ssd_baseline/slotted/pool/pool_concept.h"
#include "ssd_baseline/slotted/pool/pool_counts.h"
#include "ssd_baseline/slotted/pool/read_buffers.h"

namespace farvec::slotted {

struct PagesUnderWayOptions {
  std::uint32_t buffers = 8;  ///< pages on their way, or come and not yet visited; at least 1
  std::uint32_t page_bytes = 4096;
  double limit_us = 10e6;  ///< for one read
  /// Pages are read into these, which other indexes of the thread use too; null: into buffers of
  /// its own.
  std::shared_ptr<ReadBuffers> memory = nullptr;
};

/// Each page that was asked for has a ticket and a buffer until the last holder lets go of it. When
/// it comes, its records go into the slots that were claimed for them. Holders read them in the
/// buffer, so that no record can be evicted between its coming and its use. Nothing here suspends.
template <SharedPool Pool>
class PagesUnderWay final : public PageSink {
 public:
  using Page = typename Pool::Codec::Page;

  PagesUnderWay(Pool& pool, PageLoader& loader, const PagesUnderWayOptions& options)
      : pool_(pool),
        loader_(loader),
        page_bytes_(options.page_bytes),
        limit_(us_to_ticks(options.limit_us)),
        memory_(options.memory != nullptr
                    ? options.memory
                    : std::make_shared<ReadBuffers>(options.buffers, options.page_bytes)),
        reads_(options.buffers),
        pages_(options.buffers, kNoSlot) {
    FARVEC_CHECK(options.buffers > 0);
    for (std::uint32_t t = options.buffers; t > 0; --t) unused_.push_back(t - 1);
    staged_.reserve(options.buffers);
  }
  /// The loader must have ended all reads, and fibers must have let go of theirs.
  ~PagesUnderWay() override {
    for (const PageRequest& request : staged_) {
      page_ended(request.ticket, {StatusCode::cancelled, "the read was not started"}, false);
    }
    FARVEC_CHECK(under_way() == 0, "{} pages are still on their way", under_way());
  }

  ReadBuffers& memory() { return *memory_; }
  /// Returns how many reads may be staged now.
  std::size_t unused() const { return std::min<std::size_t>(unused_.size(), memory_->unused()); }
  std::uint32_t under_way() const {
    return static_cast<std::uint32_t>(reads_.size() - unused_.size());
  }

  /// Returns the ticket of a page that is on its way, or here and held; kNoSlot for none.
  std::uint32_t find(std::uint32_t page) const {
    const auto at = std::find(pages_.begin(), pages_.end(), page);
    return at == pages_.end() ? kNoSlot : static_cast<std::uint32_t>(at - pages_.begin());
  }

  /// Returns the ticket of the read that brings a record into a slot; kNoSlot for none.
  std::uint32_t find_target(NodeId id) const {
    for (std::uint32_t ticket = 0; ticket < reads_.size(); ++ticket) {
      const auto& targets = reads_[ticket].targets;
      const auto same = [id](const Target& target) { return target.id == id; };
      if (std::any_of(targets.begin(), targets.end(), same)) return ticket;
    }
    return kNoSlot;
  }

  /// Prepares a read that the next flush() starts. unused() must be above 0.
  std::uint32_t stage(std::uint32_t page) {
    const std::uint32_t ticket = unused_.back();
    unused_.pop_back();
    pages_[ticket] = page;
    reads_[ticket].going = true;
    reads_[ticket].buffer = memory_->take();
    staged_.push_back({ticket, page, reads_[ticket].buffer, now_ticks() + limit_});
    return ticket;
  }

  /// Starts the staged reads. The fibers that wait are told of a failure.
  void flush() {
    if (staged_.empty()) return;
    const Status status = loader_.start(staged_);
    if (!status.ok()) {
      for (const PageRequest& request : staged_) page_ended(request.ticket, status, false);
    }
    staged_.clear();
  }

  void poll() {
    if (under_way() > 0) loader_.poll();
  }

  /// Puts the record into a slot that was claimed for it, now or when its page is here.
  void attach(std::uint32_t ticket, NodeId id, std::uint32_t slot) {
    PageRead& read = reads_[ticket];
    if (read.going) {
      read.targets.push_back({id, slot});
    } else {
      settle({id, slot}, ticket);
    }
  }

  /// Keeps the page for a lane until it lets go. Until the page is here, `group` has one more
  /// operation.
  void hold(std::uint32_t ticket, coroutines::WaitGroup& group) {
    PageRead& read = reads_[ticket];
    ++read.holders;
    if (!read.going) return;
    group.add();
    read.waiters.push_back(&group);
  }
  /// May be called at any time; the group no longer has the operation then.
  void let_go(std::uint32_t ticket, coroutines::WaitGroup& group) {
    PageRead& read = reads_[ticket];
    --read.holders;
    const auto waiter = std::find(read.waiters.begin(), read.waiters.end(), &group);
    if (waiter != read.waiters.end()) {
      read.waiters.erase(waiter);
      group.done();
    }
    recycle_if_idle(ticket);
  }

  bool going(std::uint32_t ticket) const { return reads_[ticket].going; }
  /// Returns a record of a page that is held and no longer on its way, or why the page did not
  /// come.
  Result<std::span<const std::byte>> record(std::uint32_t ticket, NodeId id) const {
    const PageRead& read = reads_[ticket];
    if (!read.status.ok()) return read.status;
    return pool_.codec().find(*read.view, id);
  }

  /// Calls visit(id, record) for all records of a page that is held and has come.
  template <typename Visit>
  void for_each(std::uint32_t ticket, Visit&& visit) const {
    pool_.codec().for_each(*reads_[ticket].view, visit);
  }

  void page_ended(std::uint32_t ticket, Status status, bool destination_out) override {
    PageRead& read = reads_[ticket];
    read.going = false;
    read.out = destination_out;
    read.status = status;
    if (status.ok()) parse(ticket);
    for (const Target& target : read.targets) settle(target, ticket);
    read.targets.clear();
    if (!read.status.ok()) pages_[ticket] = kNoSlot;  // a later request reads the page anew
    for (coroutines::WaitGroup* group : read.waiters) group->done();
    read.waiters.clear();
    recycle_if_idle(ticket);
  }

  void page_returned(std::uint32_t ticket) override {
    reads_[ticket].out = false;
    recycle_if_idle(ticket);
  }

  /// Counts what taking along affine records has done.
  const PoolCounts& counts() const { return counts_; }
  /// Returns its own bytes, and its part of buffers that it shares.
  std::size_t dram_bytes() const {
    return share_of(memory_) + reads_.capacity() * (sizeof(PageRead) + sizeof(PageRequest));
  }

 private:
  /// A Target is a record that a page brings, and the slot that was claimed for it.
  struct Target {
    NodeId id;
    std::uint32_t slot;
  };
  struct PageRead {
    std::uint32_t holders = 0;
    bool going = false;           ///< its outcome is not known yet
    bool out = false;             ///< the disk may still write to the buffer
    std::byte* buffer = nullptr;  ///< null: the ticket is not used
    Status status;
    std::optional<Page> view;
    std::vector<Target> targets;
    std::vector<coroutines::WaitGroup*> waiters;
  };

  void parse(std::uint32_t ticket) {
    auto page = pool_.codec().parse(pages_[ticket], {reads_[ticket].buffer, page_bytes_});
    if (page.ok()) {
      reads_[ticket].view = page.value();
    } else {
      reads_[ticket].status = page.status();
    }
  }

  void settle(const Target& target, std::uint32_t ticket) {
    const PageRead& read = reads_[ticket];
    if (!read.status.ok()) return pool_.release(target.slot);
    pool_.fill(target.slot, target.id, *read.view);
    const auto [kept, evicted] = pool_.take_along(target.id, pages_[ticket], *read.view);
    counts_.kept += kept;
    counts_.evictions += evicted;
  }

  void recycle_if_idle(std::uint32_t ticket) {
    PageRead& read = reads_[ticket];
    if (read.going || read.out || read.holders > 0) return;
    read.view.reset();
    read.status = {};
    pages_[ticket] = kNoSlot;
    memory_->give_back(std::exchange(read.buffer, nullptr));
    unused_.push_back(ticket);
  }

  Pool& pool_;
  PageLoader& loader_;
  const std::uint32_t page_bytes_;
  const Ticks limit_;
  const std::shared_ptr<ReadBuffers> memory_;
  std::vector<PageRead> reads_;        ///< one for each ticket
  std::vector<std::uint32_t> pages_;   ///< one for each ticket, beside each other for find()
  std::vector<std::uint32_t> unused_;  ///< tickets
  std::vector<PageRequest> staged_;
  PoolCounts counts_;
};

}  // namespace farvec::slotted
