#include "postgres/engine/vid_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tests/unit/collection/changing_collection.h"

namespace farvec::postgres {
namespace {

using collection::Batch;

constexpr std::uint64_t kPlaces = std::uint64_t{1} << ASK_PLACE_BITS;

class VidPages : public collection::ChangingCollection {
 protected:
  /// VIDs on few pages, in segments and memtables, of which some are out.
  void fill() {
    open();
    for (int i = 0; i < 12; ++i) {
      std::set<std::uint64_t> some;
      while (some.size() < 40) some.insert(random_.below(5) * 7 * kPlaces + random_.below(kPlaces));
      Batch batch;
      for (const std::uint64_t vid : some) {
        rows_[vid] = collection::random_row(random_);
        batch.add(vid, rows_[vid]);
      }
      collection::insert(*collection_, batch);
      if (i % 3 == 1) collection_->flush();
      if (i % 2 == 1) erase_ids({*some.begin(), *std::next(some.begin(), 7)});
    }
  }
  HeldVids held(const SharedRows& shared = {}) const { return {collection_->view(), shared}; }
  std::vector<AskPage> random_pages(std::size_t count, std::set<std::uint64_t>& live) {
    std::vector<AskPage> pages(count);
    for (std::size_t i = 0; i < count; ++i) {
      pages[i].number = 7 * i;
      for (int n = 0; n < 300; ++n) {
        const std::uint64_t place = random_.below(kPlaces);
        pages[i].live.words[place / 64] |= std::uint64_t{1} << place % 64;
        live.insert(pages[i].number * kPlaces + place);
      }
    }
    // Rows of the collection live as often as not.
    for (const auto& [vid, row] : rows_) {
      const std::uint64_t page = page_of(vid) / 7;
      if (page >= count || random_.below(2) == 0) continue;
      pages[page].live.words[vid % kPlaces / 64] |= std::uint64_t{1} << vid % 64;
      live.insert(vid);
    }
    return pages;
  }
};

std::vector<std::uint64_t> vids_of(const std::vector<AskPage>& pages,
                                   const std::vector<AskBits>& bits) {
  std::vector<std::uint64_t> vids;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    for (std::uint64_t place = 0; place < kPlaces; ++place) {
      if ((bits[i].words[place / 64] >> place % 64 & 1) == 0) continue;
      vids.push_back(pages[i].number * kPlaces + place);
    }
  }
  return vids;
}

TEST_F(VidPages, TellsWhatLacksAndWhatIsGone) {
  fill();
  for (int i = 0; i < 20; ++i) {
    std::set<std::uint64_t> live;
    const std::vector<AskPage> pages = random_pages(4, live);
    VidRange range{0, ~std::uint64_t{0}};
    if (i > 0) range.from = random_.below(15 * kPlaces);
    if (i > 0) range.until = random_.below(30 * kPlaces);
    PageDifferences found = compare_pages(held(), pages, range);
    std::vector<std::uint64_t> lacks;
    std::vector<std::uint64_t> gone;
    for (const std::uint64_t vid : live) {
      if (range.contains(vid) && !rows_.contains(vid)) lacks.push_back(vid);
    }
    for (const auto& [vid, row] : rows_) {
      const bool told = page_of(vid) < 4 * 7;
      if (told && range.contains(vid) && !live.contains(vid)) gone.push_back(vid);
    }
    EXPECT_EQ(vids_of(pages, found.lacks), lacks);
    std::sort(found.gone.begin(), found.gone.end());
    EXPECT_EQ(found.gone, gone);
  }
}

TEST_F(VidPages, FindsRowsOfOtherPages) {
  fill();
  for (const std::unordered_set<std::uint64_t>& pages :
       {std::unordered_set<std::uint64_t>{}, {7, 21}, {0, 7, 14, 21, 28}}) {
    const VidRange range{kPlaces / 2, 21 * kPlaces + 500};
    std::vector<std::uint64_t> expected;
    for (const auto& [vid, row] : rows_) {
      if (range.contains(vid) && !pages.contains(page_of(vid))) expected.push_back(vid);
    }
    std::vector<std::uint64_t> found = held().elsewhere(pages, range);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  }
}

TEST_F(VidPages, RowsThatShareAreThereAndVerticesForOthersAloneAreNot) {
  open();
  Batch batch;
  for (const std::uint64_t vid : {1, 2, 3}) batch.add(vid, collection::random_row(random_));
  collection::insert(*collection_, batch);
  const SharedRows shared{.more = {10, 11, kPlaces + 1}, .gone = {2}};
  std::vector<AskPage> pages(1);
  for (const std::uint64_t vid : {1, 2, 10, 20}) {
    pages[0].live.words[0] |= std::uint64_t{1} << vid;
  }
  PageDifferences found = compare_pages(held(shared), pages, {0, 2 * kPlaces});
  EXPECT_EQ(vids_of(pages, found.lacks), std::vector<std::uint64_t>({2, 20}));
  EXPECT_EQ(found.gone, std::vector<std::uint64_t>({3, 11}));
  std::vector<std::uint64_t> elsewhere = held(shared).elsewhere({}, {0, 2 * kPlaces});
  std::sort(elsewhere.begin(), elsewhere.end());
  EXPECT_EQ(elsewhere, std::vector<std::uint64_t>({1, 3, 10, 11, kPlaces + 1}));
  EXPECT_EQ(held(shared).elsewhere({0}, {0, 2 * kPlaces}),
            std::vector<std::uint64_t>({kPlaces + 1}));
}

TEST_F(VidPages, VerticesOfSegmentsThatAreThereForOthersAloneAreNotToo) {
  fill();
  collection_->flush();
  SharedRows shared;
  std::vector<std::uint64_t> others;
  for (const auto& [vid, row] : rows_) {
    if (random_.below(2) == 0) {
      shared.gone.insert(vid);
    } else {
      others.push_back(vid);
    }
  }
  const HeldVids held = this->held(shared);
  std::vector<std::uint64_t> elsewhere = held.elsewhere({}, {0, ~std::uint64_t{0}});
  std::sort(elsewhere.begin(), elsewhere.end());
  EXPECT_EQ(elsewhere, others);
  std::vector<AskPage> pages(5);
  for (std::size_t i = 0; i < pages.size(); ++i) pages[i].number = 7 * i;
  PageDifferences found = compare_pages(held, pages, {0, ~std::uint64_t{0}});
  EXPECT_TRUE(vids_of(pages, found.lacks).empty());
  EXPECT_EQ(found.gone, others);
}

TEST_F(VidPages, WhatIsHeldStaysAsItWas) {
  open();
  Batch batch;
  for (const std::uint64_t vid : {1, 2}) {
    rows_[vid] = collection::random_row(random_);
    batch.add(vid, rows_[vid]);
  }
  collection::insert(*collection_, batch);
  const HeldVids before = held();
  erase_ids({1});
  Batch more;
  more.add(3, collection::random_row(random_));
  collection::insert(*collection_, more);
  EXPECT_EQ(before.of_page(0).words[0], 0b110u);
  EXPECT_EQ(held().of_page(0).words[0], 0b1100u);
}

TEST_F(VidPages, NothingIsThereOfAnEmptyCollection) {
  open();
  std::set<std::uint64_t> live;
  const std::vector<AskPage> pages = random_pages(3, live);
  const PageDifferences found = compare_pages(held(), pages, {0, 100 * kPlaces});
  EXPECT_EQ(vids_of(pages, found.lacks).size(), live.size());
  EXPECT_TRUE(found.gone.empty());
  EXPECT_TRUE(compare_pages(held(), {}, {0, 1}).lacks.empty());
}

}  // namespace
}  // namespace farvec::postgres
