#include "postgres/engine/vid_pages.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

namespace farvec::postgres {
namespace {

constexpr std::uint64_t kPlaces = std::uint64_t{1} << ASK_PLACE_BITS;

void set(AskBits& bits, std::uint64_t vid) {
  const std::uint64_t place = vid % kPlaces;
  bits.words[place / 64] |= std::uint64_t{1} << place % 64;
}

bool has(const AskBits& bits, std::uint64_t vid) {
  const std::uint64_t place = vid % kPlaces;
  return (bits.words[place / 64] >> place % 64 & 1) != 0;
}

VidRange range_of_page(std::uint64_t number, const VidRange& range) {
  return {std::max(range.from, number * kPlaces), std::min(range.until, (number + 1) * kPlaces)};
}

/// Which places of a page are in the range.
AskBits places_within(std::uint64_t number, const VidRange& range) {
  AskBits bits{};
  const VidRange own = range_of_page(number, range);
  if (own.until - own.from == kPlaces) {
    for (std::uint64_t& word : bits.words) word = ~std::uint64_t{0};
    return bits;
  }
  for (std::uint64_t vid = own.from; vid < own.until; ++vid) set(bits, vid);
  return bits;
}

/// Calls `use` with each VID of the memtables that is not out.
template <typename Use>
void each_fresh(const collection::View& view, const Use& use) {
  for (const collection::View::Fresh& fresh : view.memtables) {
    for (NodeId row = 0; row < fresh.count; ++row) {
      if (!fresh.out->contains(row)) use(fresh.memtable->id(row));
    }
  }
}

/// Calls `use` with each VID of a segment within the range that is not out, in their order.
template <typename Use>
void each_of(const collection::View::Bulk& bulk, const VidRange& range, const Use& use) {
  const collection::RowIds& ids = bulk.segment->ids();
  for (const NodeId row : ids.between(range.from, range.until)) {
    if (!bulk.out->contains(row)) use(ids.of(row));
  }
}

void append_vids(std::vector<std::uint64_t>& vids, std::uint64_t number, const AskBits& bits) {
  for (std::size_t w = 0; w < ASK_PAGE_WORDS; ++w) {
    for (std::uint64_t word = bits.words[w]; word != 0; word &= word - 1) {
      vids.push_back(number * kPlaces + w * 64 + static_cast<unsigned>(std::countr_zero(word)));
    }
  }
}

}  // namespace

/// Fresh rows that are there for others alone have gone; rows that share are there whatever else is
/// said of them.
HeldVids::HeldVids(collection::ViewPointer view, const SharedRows& shared)
    : view_(std::move(view)) {
  for (const std::uint64_t vid : shared.gone) set(pages_[page_of(vid)].gone, vid);
  each_fresh(*view_, [&](std::uint64_t vid) {
    if (!is_gone(vid)) set(pages_[page_of(vid)].there, vid);
  });
  for (const std::uint64_t vid : shared.more) set(pages_[page_of(vid)].there, vid);
}

bool HeldVids::is_gone(std::uint64_t vid) const {
  const auto page = pages_.find(page_of(vid));
  return page != pages_.end() && has(page->second.gone, vid);
}

AskBits HeldVids::of_page(std::uint64_t number) const {
  AskBits bits{};
  const std::uint64_t first = number * kPlaces;
  for (const collection::View::Bulk& bulk : view_->segments) {
    each_of(bulk, {first, first + kPlaces}, [&](std::uint64_t vid) { set(bits, vid); });
  }
  const auto page = pages_.find(number);
  if (page == pages_.end()) return bits;
  const auto& [there, gone] = page->second;
  for (std::size_t w = 0; w < ASK_PAGE_WORDS; ++w) {
    bits.words[w] = (bits.words[w] & ~gone.words[w]) | there.words[w];
  }
  return bits;
}

std::vector<std::uint64_t> HeldVids::elsewhere(const std::unordered_set<std::uint64_t>& pages,
                                               const VidRange& range) const {
  std::vector<std::uint64_t> vids;
  for (const auto& [number, beside] : pages_) {
    if (!pages.contains(number)) append_vids(vids, number, beside.there);
  }
  std::erase_if(vids, [&](std::uint64_t vid) { return !range.contains(vid); });
  for (const collection::View::Bulk& bulk : view_->segments) {
    std::uint64_t last = ~std::uint64_t{0};
    bool is_told = false;
    each_of(bulk, range, [&](std::uint64_t vid) {
      if (page_of(vid) != last) is_told = pages.contains(page_of(vid));
      last = page_of(vid);
      if (!is_told && !is_gone(vid)) vids.push_back(vid);
    });
  }
  return vids;
}

PageDifferences compare_pages(const HeldVids& held, std::span<const AskPage> pages,
                              const VidRange& range) {
  PageDifferences found;
  for (const AskPage& page : pages) {
    const AskBits within = places_within(page.number, range);
    AskBits lacks = held.of_page(page.number);
    AskBits gone{};
    for (std::size_t w = 0; w < ASK_PAGE_WORDS; ++w) {
      const std::uint64_t live = page.live.words[w];
      std::uint64_t& word = lacks.words[w];
      gone.words[w] = word & ~live & within.words[w];
      word = live & ~word & within.words[w];
    }
    append_vids(found.gone, page.number, gone);
    found.lacks.push_back(lacks);
  }
  return found;
}

}  // namespace farvec::postgres
