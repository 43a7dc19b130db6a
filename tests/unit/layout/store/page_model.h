// A page as a map from slots to bytes: what the slotted page is compared with.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "layout/store/page_change.h"
#include "layout/store/store_page.h"

namespace farvec::layout {

inline std::vector<std::byte> random_bytes(Random& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (auto& b : bytes) b = static_cast<std::byte>(random.next());
  return bytes;
}

struct PageModel {
  std::map<std::uint32_t, std::vector<std::byte>> tuples;
  std::uint32_t slots = 0;
  std::uint16_t kind = 0;
  std::uint32_t tag = 0;
  PageNumber next = kNoPage;

  /// Bytes of the page that are taken, apart from `without`'s tuple.
  std::size_t used(std::uint32_t without = ~0u) const {
    std::size_t sum = sizeof(StorePageHeader) + slots * sizeof(StoreSlot);
    for (const auto& [slot, tuple] : tuples) {
      if (slot != without) sum += round_up(tuple.size(), kTupleAlignment);
    }
    return sum;
  }

  StatusCode apply(const PageChange& change, std::size_t page_bytes) {
    const auto found = tuples.find(change.slot);
    switch (change.change) {
      case ChangeKind::init:
        tuples.clear();
        slots = 0;
        kind = change.kind;
        tag = change.tag;
        next = change.next;
        return StatusCode::ok;
      case ChangeKind::put: {
        if (change.slot > slots || change.bytes.empty()) return StatusCode::invalid_argument;
        const std::size_t more = change.slot == slots ? sizeof(StoreSlot) : 0;
        if (used(change.slot) + more + round_up(change.bytes.size(), kTupleAlignment) >
            page_bytes) {
          return StatusCode::resource_exhausted;
        }
        slots = std::max<std::uint32_t>(slots, change.slot + 1u);
        tuples[change.slot].assign(change.bytes.begin(), change.bytes.end());
        return StatusCode::ok;
      }
      case ChangeKind::erase:
        if (found == tuples.end()) return StatusCode::invalid_argument;
        tuples.erase(found);
        return StatusCode::ok;
      case ChangeKind::patch:
        if (change.slot >= slots) return StatusCode::invalid_argument;
        if (found == tuples.end()) {
          return change.offset + change.bytes.size() == 0 ? StatusCode::ok
                                                          : StatusCode::invalid_argument;
        }
        if (change.offset + change.bytes.size() > found->second.size()) {
          return StatusCode::invalid_argument;
        }
        std::copy(change.bytes.begin(), change.bytes.end(), found->second.begin() + change.offset);
        return StatusCode::ok;
      case ChangeKind::set_next:
        next = change.next;
        return StatusCode::ok;
      case ChangeKind::set_tag:
        tag = change.tag;
        return StatusCode::ok;
    }
    return StatusCode::internal;
  }

  void expect(std::span<const std::byte> bytes, PageNumber number) const {
    const auto page = StorePage::check(bytes, number);
    ASSERT_TRUE(page.ok()) << page.status().message();
    ASSERT_EQ(page.value().slots(), slots);
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      const auto tuple = page.value().tuple(slot);
      const auto found = tuples.find(slot);
      const std::vector<std::byte> held(tuple.begin(), tuple.end());
      ASSERT_EQ(held, found == tuples.end() ? std::vector<std::byte>() : found->second);
    }
    EXPECT_TRUE(page.value().tuple(slots).empty());
    const auto header = page.value().header();
    EXPECT_EQ(header.kind, kind);
    EXPECT_EQ(header.tag, tag);
    EXPECT_EQ(header.next, next);
    const std::size_t free = bytes.size() - used();
    EXPECT_EQ(page.value().room(), free < sizeof(StoreSlot) ? 0 : free - sizeof(StoreSlot));
  }
};

/// Any change, most of them possible ones. Its bytes lie in `memory`.
inline PageChange random_change(Random& random, const PageModel& model, std::size_t page_bytes,
                                std::vector<std::byte>& memory) {
  PageChange change;
  const std::uint64_t dice = random.below(100);
  change.slot = static_cast<std::uint16_t>(random.below(model.slots + (dice < 2 ? 3 : 1)));
  const std::size_t most = random.below(8) == 0 ? page_bytes : page_bytes / 12;
  if (dice < 55) {
    change.change = ChangeKind::put;
    memory = random_bytes(random, random.below(most));
  } else if (dice < 75) {
    change.change = ChangeKind::erase;
    memory.clear();
  } else if (dice < 90) {
    change.change = ChangeKind::patch;
    const auto found = model.tuples.find(change.slot);
    const std::size_t held = found == model.tuples.end() ? 0 : found->second.size();
    change.offset = static_cast<std::uint16_t>(random.below(held + 1));
    memory = random_bytes(random, random.below(held - change.offset + 2));
  } else {
    memory.clear();
    change.slot = 0;
    change.change = dice < 94   ? ChangeKind::set_next
                    : dice < 98 ? ChangeKind::set_tag
                    : dice < 99 ? ChangeKind::init
                                : ChangeKind::set_tag;
    if (change.change != ChangeKind::set_tag) {
      change.next = static_cast<PageNumber>(random.next());
    }
    if (change.change != ChangeKind::set_next) {
      change.tag = static_cast<std::uint32_t>(random.next());
    }
    if (change.change == ChangeKind::init) change.kind = 7;
  }
  change.bytes = memory;
  return change;
}

}  // namespace farvec::layout
