#include "layout/pages/slotted_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "base/error.h"
#include "tests/unit/layout/pages/slotted_fixture.h"

namespace farvec::layout {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Finds every vertex by the plan's page map, decodes it, and compares it with the graph.
void expect_round_trip(const RandomPages& pages) {
  const SlottedGeometry& geometry = pages.geometry();
  const std::vector<std::byte> bytes = pages.encode();
  const std::vector<std::uint32_t> map = pages_of(pages.plan(), pages.costs());
  std::vector<NodeId> scratch(geometry.scratch_ids());
  for (NodeId id = 0; id < geometry.count; ++id) {
    const auto page = SlottedPage::parse(geometry, map[id], pages.page(bytes, map[id]));
    ASSERT_TRUE(page.ok()) << page.status().message();
    const auto slot = page.value().find(id);
    ASSERT_TRUE(slot.ok()) << slot.status().message();
    EXPECT_EQ(slot.value().color, RandomPages::color_of(id));
    EXPECT_LE(slot.value().length, geometry.max_record_bytes());
    const auto record = decode_slotted_record(geometry, page.value().record(slot.value()), scratch);
    ASSERT_TRUE(record.ok()) << record.status().message();
    std::vector<NodeId> neighbors;
    for (std::uint32_t i = 0; i < record.value().degree; ++i) {
      neighbors.push_back(record.value().neighbor(i));
    }
    ASSERT_EQ(neighbors, pages.sorted_neighbors(id)) << id;
    ASSERT_EQ(
        std::memcmp(record.value().vector, pages.graph().vectors().row(id), geometry.payload_bytes),
        0);
  }
}

TEST(SlottedPage, GivesBackWhatWasEncoded) {
  for (const std::uint32_t page_bytes : {4096u, 8192u, 16384u}) {
    for (const std::uint32_t max_degree : {1u, 12u, 64u, 255u, 256u, 300u}) {
      SCOPED_TRACE(testing::Message() << page_bytes << " bytes, degree " << max_degree);
      expect_round_trip(RandomPages({300, max_degree, 37, page_bytes}));
    }
  }
}

TEST(SlottedPage, HoldsOneVertex) {
  const RandomPages pages({1, 4, 5, 4096});
  EXPECT_EQ(pages.geometry().pages, 1u);
  expect_round_trip(pages);
}

TEST(SlottedPage, HoldsPayloadsOfOneByteAndOfAWholePage) {
  expect_round_trip(RandomPages({400, 3, 1, 4096}));
  // 4096 less header, slot, degree, and a list of three.
  expect_round_trip(RandomPages({20, 3, 4096 - 12 - 9 - 1 - 4, 4096}));
}

TEST(SlottedPage, TheSameForAnyRunOfPages) {
  const RandomPages pages({2000, 12, 37, 4096});
  const std::vector<std::byte> whole = pages.encode();
  std::vector<std::byte> page(4096);
  for (std::uint32_t p = 0; p < pages.geometry().pages; ++p) {
    pages.encoder().encode(p, p + 1, page);
    EXPECT_EQ(std::memcmp(page.data(), whole.data() + std::size_t{p} * 4096, 4096), 0);
  }
}

TEST(SlottedPage, FindsOnlyWhatItHolds) {
  const RandomPages pages;
  const std::vector<std::byte> bytes = pages.encode();
  const auto page = SlottedPage::parse(pages.geometry(), 1, pages.page(bytes, 1));
  ASSERT_TRUE(page.ok());
  std::set<NodeId> inside(pages.plan().page(1).begin(), pages.plan().page(1).end());
  for (NodeId id = 0; id < pages.geometry().count; ++id) {
    const auto slot = page.value().find(id);
    EXPECT_EQ(slot.ok(), inside.count(id) == 1);
    if (slot.ok()) continue;
    EXPECT_EQ(slot.status().code(), StatusCode::data_loss);
  }
}

TEST(SlottedPage, NoticesEveryChangedByteAndBit) {
  const RandomPages pages;
  std::vector<std::byte> bytes = pages.encode();
  for (std::size_t i = 0; i < 4096; ++i) {
    const std::byte before = bytes[i];
    bytes[i] ^= static_cast<std::byte>(1u << (i % 8));
    const auto page = SlottedPage::parse(pages.geometry(), 0, pages.page(bytes, 0));
    ASSERT_FALSE(page.ok()) << i;
    EXPECT_EQ(page.status().code(), StatusCode::data_loss);
    bytes[i] = before;
  }
}

TEST(SlottedPage, NoticesAPageFromAnotherPlaceAndAShortOne) {
  const RandomPages pages;
  const std::vector<std::byte> bytes = pages.encode();
  EXPECT_FALSE(SlottedPage::parse(pages.geometry(), 1, pages.page(bytes, 0)).ok());
  EXPECT_FALSE(SlottedPage::parse(pages.geometry(), 0, pages.page(bytes, 0).first(4095)).ok());
  EXPECT_FALSE(SlottedPage::parse(pages.geometry(), 0, {}).ok());
}

/// A page whose checksum holds whatever else is wrong with it.
class ForgedPage : public testing::Test {
 protected:
  ForgedPage() : bytes_(pages_.encode()) { bytes_.resize(4096); }

  void store(std::size_t at, std::uint16_t value) { store_unaligned(bytes_.data() + at, value); }
  std::uint16_t load(std::size_t at) const {
    return load_unaligned<std::uint16_t>(bytes_.data() + at);
  }
  static std::size_t slot(std::size_t i) { return 12 + 9 * i; }

  std::string refusal() {
    store_unaligned(bytes_.data(), page_checksum(bytes_, 0));
    const auto page = SlottedPage::parse(pages_.geometry(), 0, bytes_);
    if (page.ok()) return "accepted";
    EXPECT_EQ(page.status().code(), StatusCode::data_loss);
    return page.status().message();
  }

  const RandomPages pages_;
  std::vector<std::byte> bytes_;
};

TEST_F(ForgedPage, IsAcceptedUnchanged) {
  EXPECT_EQ(refusal(), "accepted");
}

TEST_F(ForgedPage, WithTooManySlots) {
  store(4, 0xffff);
  EXPECT_THAT(refusal(), HasSubstr("reach into its records"));
}

TEST_F(ForgedPage, WithFewerSlotsThanRecords) {
  store(4, static_cast<std::uint16_t>(load(4) - 1));
  EXPECT_THAT(refusal(), HasSubstr("another length"));
}

TEST_F(ForgedPage, WithAHeapBehindItsEnd) {
  store(6, 4097);
  EXPECT_NE(refusal(), "accepted");
}

TEST_F(ForgedPage, WithSlotsOutOfOrder) {
  std::swap_ranges(bytes_.begin() + 12, bytes_.begin() + 16, bytes_.begin() + 21);
  EXPECT_THAT(refusal(), HasSubstr("do not ascend"));
}

TEST_F(ForgedPage, WithOneVertexTwice) {
  std::copy_n(bytes_.begin() + 12, 4, bytes_.begin() + 21);
  EXPECT_THAT(refusal(), HasSubstr("do not ascend"));
}

TEST_F(ForgedPage, WithAVertexThatDoesNotExist) {
  store_unaligned(bytes_.data() + slot(load(4) - 1), std::uint32_t{0xffffffff});
  EXPECT_THAT(refusal(), HasSubstr("do not ascend"));
}

TEST_F(ForgedPage, WithRecordsAcrossEachOther) {
  store(slot(1) + 7, static_cast<std::uint16_t>(load(slot(1) + 7) + 1));
  EXPECT_THAT(refusal(), HasSubstr("across each other"));
  store(slot(1) + 7, load(slot(0) + 7));
  EXPECT_THAT(refusal(), HasSubstr("across each other"));
}

TEST_F(ForgedPage, WithARecordBehindItsEnd) {
  store(slot(0) + 7, 4090);
  EXPECT_THAT(refusal(), HasSubstr("outside of it"));
}

TEST_F(ForgedPage, WithARecordInItsSlots) {
  const std::size_t last = slot(load(4) - 1);
  store(last + 7, 12);
  EXPECT_THAT(refusal(), HasSubstr("outside of it"));
}

TEST_F(ForgedPage, WithLengthsThatLie) {
  for (const std::uint16_t length : {0, 1, 37, 0xffff}) {
    store(slot(0) + 5, length);
    EXPECT_NE(refusal(), "accepted") << length;
  }
}

TEST_F(ForgedPage, MayHaveAGapWhereARecordWas) {
  // The last record shrinks at its end: the heap keeps its start.
  const std::size_t last = slot(load(4) - 1);
  if (load(last + 5) <= 38) GTEST_SKIP() << "the last record cannot shrink";
  store(last + 5, static_cast<std::uint16_t>(load(last + 5) - 1));
  store(8, static_cast<std::uint16_t>(load(8) - 1));
  EXPECT_EQ(refusal(), "accepted");
}

TEST(SlottedRecord, RefusesEveryOtherLengthAndDegree) {
  const RandomPages pages({40, 12, 37, 4096});
  const std::vector<NodeId> neighbors = pages.sorted_neighbors(1);
  std::vector<std::byte> record(slotted_record_bytes(pages.geometry(), neighbors));
  encode_slotted_record(pages.geometry(), neighbors, pages.graph().vectors().row(1), record);
  std::vector<NodeId> scratch(pages.geometry().scratch_ids());
  for (std::size_t bytes = 0; bytes < record.size(); ++bytes) {
    // Its own allocation, so that the address sanitizer sees a read behind it.
    const std::vector<std::byte> shorter(record.begin(),
                                         record.begin() + static_cast<std::ptrdiff_t>(bytes));
    const auto result = decode_slotted_record(pages.geometry(), shorter, scratch);
    ASSERT_FALSE(result.ok()) << bytes;
    EXPECT_EQ(result.status().code(), StatusCode::data_loss);
  }
  for (unsigned degree = 0; degree < 256; ++degree) {
    record[0] = static_cast<std::byte>(degree);
    EXPECT_EQ(decode_slotted_record(pages.geometry(), record, scratch).ok(),
              degree == neighbors.size());
  }
}

TEST(SlottedRecord, ALargeRecordIsRefusedWithThePageSizeThatWouldDo) {
  EXPECT_THAT(error_of([] { RandomPages({10, 12, 4096, 4096}); }), HasSubstr("--page-bytes 8192"));
  EXPECT_THAT(error_of([] { RandomPages({10, 12, 9000, 8192}); }), HasSubstr("--page-bytes 16384"));
  EXPECT_THAT(error_of([] { RandomPages({10, 12, 16384, 4096}); }), HasSubstr("--payload code"));
}

TEST(SlottedGeometry, RefusesWhatMakesNoSense) {
  const SlottedGeometry good{PayloadKind::code, 4, 68, 4096, 32, 10, 100};
  EXPECT_NO_THROW(good.validate());
  const auto refused = [&](auto change) {
    SlottedGeometry bad = good;
    change(bad);
    EXPECT_THROW(bad.validate(), Error);
  };
  refused([](SlottedGeometry& g) { g.count = 0; });
  refused([](SlottedGeometry& g) { g.payload_bytes = 0; });
  refused([](SlottedGeometry& g) { g.extension_bits = 0; });
  refused([](SlottedGeometry& g) { g.extension_bits = 8; });
  refused([](SlottedGeometry& g) { g.payload = PayloadKind::vector; });
  refused([](SlottedGeometry& g) { g.max_degree = 0; });
  refused([](SlottedGeometry& g) { g.page_bytes = 2048; });
  refused([](SlottedGeometry& g) { g.page_bytes = 5000; });
  refused([](SlottedGeometry& g) { g.page_bytes = 32768; });
}

TEST(PagePlan, RefusesPlansThatAreNone) {
  const RandomPages pages;
  const auto refusal = [&](auto change) {
    PagePlan plan = pages.plan();
    change(plan);
    return error_of([&] { pages_of(plan, pages.costs()); });
  };
  EXPECT_THAT(refusal([](PagePlan& p) { p.ids[3] = p.ids[4]; }), HasSubstr("more than one page"));
  EXPECT_THAT(refusal([](PagePlan& p) { p.ids[3] = 500; }), HasSubstr("does not exist"));
  EXPECT_THAT(refusal([](PagePlan& p) { p.ids.pop_back(); }), HasSubstr("not one of 500 vertices"));
  EXPECT_THAT(refusal([](PagePlan& p) { p.colors.pop_back(); }), HasSubstr("not one of"));
  EXPECT_THAT(refusal([](PagePlan& p) { p.begins.erase(p.begins.begin() + 1); }),
              HasSubstr("holds"));
  EXPECT_THAT(refusal([](PagePlan& p) { p.begins.insert(p.begins.begin(), 0); }),
              HasSubstr("holds"));
}

TEST(PagePlan, OverlapCountsNeighboursInThePage) {
  // 0 -> 1, 2; 1 -> 0; 2 -> 3; 3 -> nothing. Pages {0, 1, 2} and {3}.
  const NodeId neighbors[] = {1, 2, 0, 0, 3, 0, 0, 0};
  const std::uint32_t degrees[] = {2, 1, 1, 0};
  const AdjacencyView graph{neighbors, degrees, 4, 2, 0};
  const PagePlan plan{{0, 3, 4}, {2, 0, 1, 3}, {}};
  EXPECT_DOUBLE_EQ(page_overlap(plan, graph), (1.0 + 0.5 + 0.0 + 0.0) / 4);
}

}  // namespace
}  // namespace farvec::layout
