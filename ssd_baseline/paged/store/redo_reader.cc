#include "ssd_baseline/paged/store/redo_reader.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "layout/store/store_page.h"

namespace farvec::paged {
namespace {

/// Pages in the queue; fewer where the buffer is small, because each of them has a frame.
constexpr std::size_t kMostAhead = 256;
constexpr std::size_t kAheadShare = 4;  // one part in this many of the frames
/// Reads are started when this many have been collected, or when one of them is waited for.
constexpr std::size_t kReadsAtOnce = 32;
constexpr double kRedoReadLimitUs = 60e6;
constexpr double kRedoClaimLimitUs = 60e6;
constexpr auto kRedoClaimInterval = std::chrono::microseconds(50);

std::size_t ahead(const FramePool& pool) {
  return std::min(kMostAhead, pool.size() / kAheadShare);
}

}  // namespace

RedoReader::RedoReader(StoreState& state, PageWriter& writer)
    : state_(state),
      writer_(writer),
      ring_(ahead(state.pool)),
      engine_(state.parts->open_queue({state.file}, static_cast<std::uint32_t>(ring_.size()),
                                      disk::DiskThread::owner)) {
  requests_.reserve(kReadsAtOnce);
}

bool RedoReader::ask(PageNumber page) {
  if (size_ == ring_.size()) return false;
  const FrameLook look = state_.pool.look(page);
  const bool absent = look.outcome == FrameLook::Outcome::absent;
  FARVEC_CHECK(absent || look.frame != nullptr, "recovery is alone");
  Frame* const frame = absent ? claim(page) : look.frame;
  if (frame == nullptr) return false;
  const std::size_t place = (first_ + size_++) % ring_.size();
  ring_[place] = {.page = page, .frame = frame, .reads = absent};
  if (!absent) return true;
  requests_.push_back({.token = place,
                       .offset = state_.offset_of(page),
                       .memory = frame->bytes.data(),
                       .deadline = now_ticks() + us_to_ticks(kRedoReadLimitUs),
                       .bytes = state_.page_bytes()});
  if (requests_.size() == kReadsAtOnce) submit();
  return true;
}

/// Returns a loading frame for a page that is in none. It waits for a frame only when the queue is
/// empty; otherwise it returns nullptr.
Frame* RedoReader::claim(PageNumber page) {
  const Ticks give_up = now_ticks() + us_to_ticks(kRedoClaimLimitUs);
  while (true) {
    const FrameClaim claim = state_.pool.claim();
    if (claim.outcome == ClaimOutcome::claimed) {
      FARVEC_CHECK(state_.pool.publish(*claim.frame, page, FrameState::loading),
                   "recovery is alone");
      return claim.frame;
    }
    writer_.want_frames();
    if (size_ > 0) return nullptr;
    if (now_ticks() > give_up)
      fail_recovery(state_, page, {StatusCode::resource_exhausted, "no frame for it"});
    if (const Status failure = state_.failure.get(); !failure.ok())
      fail_recovery(state_, page, failure);
    std::this_thread::sleep_for(kRedoClaimInterval);
  }
}

void RedoReader::submit() {
  if (requests_.empty()) return;
  StoreCounters::add(state_.counters.page_reads, requests_.size());
  if (const Status status = engine_.post(requests_); !status.ok())
    fail_recovery(state_, next(), status);
  requests_.clear();
}

RedoReader::Taken RedoReader::take() {
  const Asked& asked = ring_[first_];
  if (asked.reads) wait(asked);
  first_ = (first_ + 1) % ring_.size();
  --size_;
  // The entry that has read the page was taken before, and has finished the load.
  if (!asked.reads) return {asked.frame, {}};
  const Status status = layout::check_sealed_page(asked.frame->bytes, asked.page);
  if (status.ok()) state_.pool.finish_load(*asked.frame, {});
  return {asked.frame, status};
}

void RedoReader::wait(const Asked& asked) {
  submit();
  std::array<disk::DiskCompletion, kReadsAtOnce> completions;
  while (!asked.arrived) {
    const std::size_t count = engine_.poll(completions);
    for (std::size_t i = 0; i < count; ++i) {
      Asked& read = ring_[completions[i].token];
      read.arrived = true;
      read.status = completions[i].status;
    }
    if (count == 0) std::this_thread::yield();
  }
  if (asked.status != StatusCode::ok)
    fail_recovery(state_, asked.page, {asked.status, "the disk cannot read it"});
}

void fail_recovery(const StoreState& state, PageNumber page, Status status) {
  throw Error("recovering '{}': page {} of 'pages' (at {}): {}: restore the folder from a backup",
              state.folder.string(), page, state.offset_of(page), status.message());
}

}  // namespace farvec::paged
