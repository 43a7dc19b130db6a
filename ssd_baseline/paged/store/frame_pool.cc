#include "ssd_baseline/paged/store/frame_pool.h"

#include "base/check.h"

namespace farvec::paged {
namespace {

/// The rounds of the hand after which a frame without pins has become unused.
constexpr std::size_t kRounds = FrameWord::kUseMask / FrameWord::kUse + 1;

/// Returns the word with one pin more, and used once more; the count of uses stops at its largest.
FrameWord pinned_once_more(FrameWord now) {
  FARVEC_CHECK(now.pins() < FrameWord::kPinMask, "a page has too many pins");
  const bool most = (now.word & FrameWord::kUseMask) == FrameWord::kUseMask;
  return {now.word + FrameWord::kPin + (most ? 0 : FrameWord::kUse)};
}

}  // namespace

FramePool::FramePool(std::size_t frames, std::uint32_t page_bytes)
    : count_(frames),
      page_bytes_(page_bytes),
      memory_(frames * page_bytes),
      frames_(new Frame[frames]) {
  for (std::size_t i = 0; i < count_; ++i) {
    frames_[i].bytes = memory_.span().subspan(i * page_bytes_, page_bytes_);
  }
}

FrameLook FramePool::look(layout::PageNumber page) {
  PageEntry* const entry = table_.find(page);
  // Acquire: pairs with publish(), so that the frame's number is there.
  const std::uint32_t number =
      entry == nullptr ? kNoFrame : entry->frame.load(std::memory_order_acquire);
  if (number == kNoFrame) return {FrameLook::Outcome::absent};
  Frame& frame = frames_[number];
  FrameWord now = word_of(frame);
  do {
    if (now.state() != FrameState::resident && now.state() != FrameState::loading) {
      return {FrameLook::Outcome::changing};
    }
    // Acquire: pairs with the loader's or publisher's release of the word.
  } while (!frame.word.compare_exchange_weak(now.word, pinned_once_more(now).word,
                                             std::memory_order_acquire));
  // Relaxed: it does not change while the frame is pinned, and it is read after the exchange above.
  if (frame.page.load(std::memory_order_relaxed) != page) {
    unpin(frame);
    return {FrameLook::Outcome::changing};
  }
  const bool loading = now.state() == FrameState::loading;
  return {loading ? FrameLook::Outcome::loading : FrameLook::Outcome::resident, &frame};
}

void FramePool::pin(Frame& frame) {
  frame.word.fetch_add(FrameWord::kPin, std::memory_order_relaxed);  // has a pin already
}

void FramePool::unpin(Frame& frame) {
  // Release: pairs with claim(), whose owner overwrites what was read under the pin.
  const std::uint32_t before = frame.word.fetch_sub(FrameWord::kPin, std::memory_order_release);
  FARVEC_CHECK(FrameWord{before}.pins() > 0, "a pin is given back twice");
}

bool FramePool::try_claim(Frame& frame, bool& busy) {
  FrameWord now = word_of(frame);
  if (now.pins() > 0) {
    busy |= now.state() != FrameState::resident;
    return false;
  }
  if (now.dirty() || now.state() == FrameState::claimed || now.state() == FrameState::loading) {
    busy = true;
    return false;
  }
  busy = true;  // a faster thread has it for a moment
  const bool holds = now.state() == FrameState::resident;
  const std::uint32_t next = holds && now.uses() > 0 ? now.word - FrameWord::kUse
                                                     : FrameWord::of(FrameState::claimed, 1).word;
  // Acquire: pairs with the release of the last unpin().
  return frame.word.compare_exchange_strong(now.word, next, std::memory_order_acquire) &&
         FrameWord{next}.state() == FrameState::claimed;
}

FrameClaim FramePool::claim() {
  bool busy = false;
  for (std::size_t step = 0; step < kRounds * count_; ++step) {
    // Relaxed: any order of frames works.
    Frame& frame = frames_[hand_.fetch_add(1, std::memory_order_relaxed) % count_];
    if (!try_claim(frame, busy)) continue;
    const layout::PageNumber page = frame.page.load(std::memory_order_relaxed);  // ours now
    if (page == layout::kNoPage) return {ClaimOutcome::claimed, &frame};
    // Release: a thread that finds the page absent from now on may read it from the disk.
    table_.find(page)->frame.store(kNoFrame, std::memory_order_release);
    frame.page.store(layout::kNoPage, std::memory_order_relaxed);  // ours
    evictions_.fetch_add(1, std::memory_order_relaxed);            // a count
    return {ClaimOutcome::claimed, &frame};
  }
  return {busy ? ClaimOutcome::busy : ClaimOutcome::pinned, nullptr};
}

void FramePool::abandon(Frame& frame) {
  frame.page.store(layout::kNoPage, std::memory_order_relaxed);  // ours until the next line
  // Release: pairs with the next claim().
  frame.word.store(FrameWord::of(FrameState::free, 0).word, std::memory_order_release);
}

bool FramePool::publish(Frame& frame, layout::PageNumber page, FrameState state) {
  frame.page.store(page, std::memory_order_relaxed);  // published by the exchanges below
  std::uint32_t absent = kNoFrame;
  const auto number = static_cast<std::uint32_t>(&frame - frames_.get());
  // Release: pairs with look(), which sees a claimed frame until the word is there.
  if (!table_.find(page)->frame.compare_exchange_strong(absent, number,
                                                        std::memory_order_acq_rel)) {
    abandon(frame);
    return false;
  }
  // Release: pairs with look(), for the bytes of a new page, and for which fetcher loads it.
  frame.word.store(FrameWord::of(state, 1).word + FrameWord::kUse, std::memory_order_release);
  return true;
}

void FramePool::finish_load(Frame& frame, Status status) {
  FrameState next = FrameState::resident;
  if (!status.ok()) {
    next = FrameState::failed;
    frame.failure = status;
    const layout::PageNumber page = frame.page.load(std::memory_order_relaxed);  // pinned
    frame.page.store(layout::kNoPage,
                     std::memory_order_relaxed);  // no thread reads the number of a loading frame
    // Release: see claim().
    table_.find(page)->frame.store(kNoFrame, std::memory_order_release);
  }
  constexpr std::uint32_t kFrom = static_cast<std::uint32_t>(FrameState::loading);
  const std::uint32_t step = (static_cast<std::uint32_t>(next) - kFrom) << FrameWord::kStateShift;
  // Release: pairs with word_of() and look(), for the bytes or the failure.
  frame.word.fetch_add(step, std::memory_order_release);
}

bool FramePool::mark_dirty(Frame& frame) {
  // Release: the writer that sees it finds the page's position in the log, or waits at the latch.
  const FrameWord before{frame.word.fetch_or(FrameWord::kDirty, std::memory_order_release)};
  if (before.dirty()) return false;
  dirty_.fetch_add(1, std::memory_order_relaxed);  // a count
  return true;
}

void FramePool::mark_clean(Frame& frame) {
  const FrameWord before{frame.word.fetch_and(~FrameWord::kDirty, std::memory_order_relaxed)};
  if (before.dirty()) dirty_.fetch_sub(1, std::memory_order_relaxed);  // a count
}

}  // namespace farvec::paged
