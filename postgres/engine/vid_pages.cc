#include "postgres/engine/vid_pages.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <unordered_map>

namespace farvec::postgres {
namespace {

constexpr std::uint64_t kPlaces = std::uint64_t{1} << ASK_PLACE_BITS;

void set(AskBits& bits, std::uint64_t vid) {
  const std::uint64_t place = vid % kPlaces;
  bits.words[place / 64] |= std::uint64_t{1} << place % 64;
}

void clear(AskBits& bits, std::uint64_t vid) {
  const std::uint64_t place = vid % kPlaces;
  bits.words[place / 64] &= ~(std::uint64_t{1} << place % 64);
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

/// Sets the bits of all VIDs of the pages that are there.
std::vector<AskBits> bits_in(const collection::View& view, const SharedRows& shared,
                             std::span<const AskPage> pages) {
  std::vector<AskBits> bits(pages.size());
  std::unordered_map<std::uint64_t, std::size_t> place;
  for (std::size_t i = 0; i < pages.size(); ++i) place.emplace(pages[i].number, i);
  const auto of = [&](std::uint64_t vid) {
    const auto found = place.find(page_of(vid));
    return found == place.end() ? nullptr : &bits[found->second];
  };
  each_fresh(view, [&](std::uint64_t vid) {
    if (AskBits* const page = of(vid); page != nullptr) set(*page, vid);
  });
  for (const collection::View::Bulk& bulk : view.segments) {
    for (std::size_t i = 0; i < pages.size(); ++i) {
      const std::uint64_t first = pages[i].number * kPlaces;
      each_of(bulk, {first, first + kPlaces}, [&](std::uint64_t vid) { set(bits[i], vid); });
    }
  }
  for (const std::uint64_t vid : shared.gone) {
    if (AskBits* const page = of(vid); page != nullptr) clear(*page, vid);
  }
  for (const std::uint64_t vid : shared.more) {
    if (AskBits* const page = of(vid); page != nullptr) set(*page, vid);
  }
  return bits;
}

void append_vids(std::vector<std::uint64_t>& vids, std::uint64_t number, const AskBits& bits) {
  for (std::size_t w = 0; w < ASK_PAGE_WORDS; ++w) {
    for (std::uint64_t word = bits.words[w]; word != 0; word &= word - 1) {
      vids.push_back(number * kPlaces + w * 64 + static_cast<unsigned>(std::countr_zero(word)));
    }
  }
}

}  // namespace

PageDifferences compare_pages(const collection::View& view, const SharedRows& shared,
                              std::span<const AskPage> pages, const VidRange& range) {
  PageDifferences found{.lacks = bits_in(view, shared, pages), .gone = {}};
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const AskBits within = places_within(pages[i].number, range);
    AskBits gone{};
    for (std::size_t w = 0; w < ASK_PAGE_WORDS; ++w) {
      const std::uint64_t live = pages[i].live.words[w];
      std::uint64_t& word = found.lacks[i].words[w];
      gone.words[w] = word & ~live & within.words[w];
      word = live & ~word & within.words[w];
    }
    append_vids(found.gone, pages[i].number, gone);
  }
  return found;
}

std::vector<std::uint64_t> vids_elsewhere(const collection::View& view, const SharedRows& shared,
                                          const std::unordered_set<std::uint64_t>& pages,
                                          const VidRange& range) {
  std::vector<std::uint64_t> vids;
  const auto look = [&](std::uint64_t vid) {
    if (range.contains(vid) && !pages.contains(page_of(vid))) vids.push_back(vid);
  };
  each_fresh(view, look);
  for (const std::uint64_t vid : shared.more) look(vid);
  for (const collection::View::Bulk& bulk : view.segments) {
    std::uint64_t last = ~std::uint64_t{0};
    bool is_told = false;
    each_of(bulk, range, [&](std::uint64_t vid) {
      if (page_of(vid) != last) is_told = pages.contains(page_of(vid));
      last = page_of(vid);
      if (!is_told) vids.push_back(vid);
    });
  }
  std::erase_if(vids, [&](std::uint64_t vid) { return shared.gone.contains(vid); });
  return vids;
}

}  // namespace farvec::postgres
