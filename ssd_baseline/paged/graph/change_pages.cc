#include "ssd_baseline/paged/graph/change_pages.h"

#include <algorithm>
#include <vector>

#include "base/input_file.h"
#include "layout/hnsw/hnsw_meta.h"
#include "ssd_baseline/paged/store/local_store.h"

namespace farvec::paged {
namespace {

/// Pages besides those of neighbours: the meta page, the leaf of the id map, the vertex's page, two
/// that its placement notes, and that of the vertex that it replaces.
constexpr std::size_t kOwnPages = 6;
/// The number for a graph whose meta page is not on the disk yet: more than usual parameters need.
constexpr std::size_t kUnknownChangePages = 512;
/// One part in this many of the buffer is for reads.
constexpr std::size_t kReadShare = 8;
/// The time between two looks whether a change was served; a change that has waited for long looks
/// less often.
constexpr double kShortestLookUs = 50;
constexpr double kLongestLookUs = 1000;
constexpr double kLookShare = 8;

/// Returns the layers above the lowest that 2^32 vertices fill: each layer has one vertex for m of
/// the layer below.
std::uint32_t upper_layers(const layout::HnswShape& shape) {
  const std::uint32_t m = std::max(shape.m, 2u);  // callers refuse an m below 2
  std::uint32_t layers = 0;
  for (std::uint64_t vertices = std::uint64_t{1} << 32; vertices > 1; vertices /= m) ++layers;
  return std::min(layers, shape.max_level);
}

}  // namespace

std::size_t most_change_pages(const layout::HnswShape& shape) {
  return kOwnPages + shape.degree(0) + std::size_t{upper_layers(shape)} * shape.m;
}

std::size_t stored_change_pages(const std::filesystem::path& folder, std::uint32_t page_bytes) {
  const InputFile file((folder / "pages").string());
  if (file.size() < page_bytes) return kUnknownChangePages;
  std::vector<std::byte> page(page_bytes);
  file.read_at(0, page.data(), page.size());
  const auto meta = layout::read_hnsw_meta(page);
  if (!meta.ok()) return kUnknownChangePages;
  return most_change_pages(meta.value().shape());
}

std::size_t least_frames_for_changes(std::size_t change_pages) {
  return std::max(kMinFrames, change_pages + kCleanFrames);
}

std::size_t frames_for_changes(std::size_t change_pages, std::size_t at_once) {
  return at_once * change_pages + kMinFrames / 2;
}

PinBudget::PinBudget(std::size_t frames) : most_(frames - frames / kReadShare) {}

void PinBudget::serve() {
  while (!waiting_.empty() && has_room(waiting_.front()->pages)) {
    Waiter& first = *waiting_.front();
    waiting_.pop_front();
    taken_ += first.pages;
    first.served.store(true, std::memory_order_release);  // the last access: the fiber may go on
  }
}

void PinBudget::take_more(std::size_t pages) {
  const std::lock_guard lock(mutex_);
  taken_ += pages;
}

void PinBudget::give_back(std::size_t pages) {
  const std::lock_guard lock(mutex_);
  taken_ -= pages;
  serve();
}

Status PinBudget::take(std::size_t pages, Ticks deadline, coroutines::Scheduler& scheduler) {
  Waiter self{.pages = pages};
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(&self);
    serve();
  }
  const Ticks began = now_ticks();
  while (!self.served.load(std::memory_order_acquire)) {
    const Ticks now = now_ticks();
    if (now >= deadline) {
      const std::lock_guard lock(mutex_);
      if (std::erase(waiting_, &self) == 0) break;  // it was served meanwhile
      serve();                                      // others may have waited for this one only
      return {StatusCode::deadline_exceeded,
              "other changes held the pages of the buffer until the deadline: open it with a "
              "larger --buffer, or with fewer --slots or --threads"};
    }
    const double look_us =
        std::clamp(ticks_to_us(now - began) / kLookShare, kShortestLookUs, kLongestLookUs);
    scheduler.suspend_until(std::min(deadline, now + us_to_ticks(look_us)));
  }
  return {};
}

}  // namespace farvec::paged
