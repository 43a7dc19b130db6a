#include "layout/store/store_page.h"

#include "layout/store/store_record.h"
#include "tests/unit/layout/store/page_model.h"

namespace farvec::layout {
namespace {

std::vector<std::byte> filled_page(std::uint64_t seed, PageNumber number, std::size_t bytes) {
  Random random(seed);
  std::vector<std::byte> page(bytes);
  format_page(page, number);
  PageModel model;
  std::vector<std::byte> memory;
  for (int i = 0; i < 300; ++i) {
    const PageChange change = random_change(random, model, bytes, memory);
    if (apply_change(page, change).ok()) (void)model.apply(change, bytes);
  }
  set_page_position(page, 77);
  return page;
}

TEST(StorePageTest, EveryFlippedBitIsFound) {
  auto page = filled_page(1, 9, 4096);
  seal_page(page);
  ASSERT_TRUE(check_sealed_page(page, 9).ok());
  EXPECT_EQ(check_sealed_page(page, 8).code(), StatusCode::data_loss);
  for (std::size_t bit = 0; bit < page.size() * 8; bit += 37) {
    page[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_EQ(check_sealed_page(page, 9).code(), StatusCode::data_loss) << bit;
    page[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(StorePageTest, APageOfZerosAndHalfAPageAreNone) {
  const std::vector<std::byte> zeros(4096);
  EXPECT_EQ(check_sealed_page(zeros, 0).code(), StatusCode::data_loss);
  EXPECT_EQ(StorePage::check({zeros.data(), 10}, 0).status().code(), StatusCode::data_loss);
}

TEST(StorePageTest, LyingHeadersAndSlotsAreFound) {
  const auto sound = filled_page(2, 4, 8192);
  const auto damaged = [&](auto&& change) {
    auto page = sound;
    auto header = load_unaligned<StorePageHeader>(page.data());
    change(header, page);
    store_unaligned(page.data(), header);
    return StorePage::check(page, 4).status().code() == StatusCode::data_loss;
  };
  using Bytes = std::vector<std::byte>;
  EXPECT_FALSE(damaged([](StorePageHeader&, Bytes&) {}));
  EXPECT_TRUE(damaged([](StorePageHeader& h, Bytes&) { h.page = 5; }));
  EXPECT_TRUE(damaged([](StorePageHeader& h, Bytes&) { h.slots = 0xffff; }));
  EXPECT_TRUE(damaged([](StorePageHeader& h, Bytes&) { h.tuples_begin -= 4; }));
  EXPECT_TRUE(damaged([](StorePageHeader& h, Bytes&) { h.tuples_begin = 0xfffc; }));
  EXPECT_TRUE(damaged([](StorePageHeader& h, Bytes&) { h.dead_bytes += 4; }));
  const auto slot = [](Bytes& page, std::uint32_t i) {
    return page.data() + sizeof(StorePageHeader) + i * sizeof(StoreSlot);
  };
  std::uint32_t used = 0;
  while (StorePage(sound).tuple(used).empty()) ++used;
  EXPECT_TRUE(damaged([&](StorePageHeader&, Bytes& page) {
    store_unaligned(slot(page, used), StoreSlot{8190, 100});
  }));
  EXPECT_TRUE(damaged([&](StorePageHeader& h, Bytes& page) {
    store_unaligned(slot(page, used), StoreSlot{0, 1});
    h.dead_bytes = 0;
  }));
}

TEST(StorePageTest, TuplesThatShareBytesAreFound) {
  std::vector<std::byte> page(4096);
  format_page(page, 1);
  const std::vector<std::byte> tuple(400, std::byte{1});
  ASSERT_TRUE(apply_change(page, {.change = ChangeKind::put, .slot = 0, .bytes = tuple}).ok());
  ASSERT_TRUE(apply_change(page, {.change = ChangeKind::put, .slot = 1, .bytes = tuple}).ok());
  // Both at one place: the counts still add up.
  store_unaligned(page.data() + sizeof(StorePageHeader),
                  load_unaligned<StoreSlot>(page.data() + sizeof(StorePageHeader) + 4));
  EXPECT_EQ(StorePage::check(page, 1).status().code(), StatusCode::data_loss);
}

TEST(StorePageTest, AnImageIsThePageWithoutItsHole) {
  for (const std::uint32_t bytes : {4096u, 32768u}) {
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
      const auto page = filled_page(seed, 3, bytes);
      const PageImage image = image_of(page);
      EXPECT_EQ(image.bytes(), page.size() - StorePage(page).hole_bytes());
      std::vector<std::byte> kept(image.front.begin(), image.front.end());
      kept.insert(kept.end(), image.back.begin(), image.back.end());
      std::vector<std::byte> back(bytes, std::byte{0xee});
      ASSERT_TRUE(decode_image(kept, 3, back).ok());
      EXPECT_EQ(back, page);
      EXPECT_EQ(decode_image(kept, 4, back).code(), StatusCode::data_loss);
      kept.pop_back();
      EXPECT_EQ(decode_image(kept, 3, back).code(), StatusCode::data_loss);
    }
  }
}

TEST(StorePageTest, RecordsComeBackInParts) {
  std::vector<std::byte> bytes;
  const auto append = [&](auto value) {
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof(value));
  };
  append(StoreRecordHeader{1, 2});
  append(StorePartHeader{4, 3});
  bytes.resize(bytes.size() + 3, std::byte{1});
  append(StorePartHeader{6, 1});
  bytes.resize(bytes.size() + 1, std::byte{2});
  StoreRecord record;
  ASSERT_TRUE(decode_record(bytes, record).ok());
  ASSERT_EQ(record.parts.size(), 2u);
  EXPECT_EQ(record.parts[1].page, 6u);
  EXPECT_EQ(record.parts[1].bytes[0], std::byte{2});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(decode_record({bytes.data(), i}, record).ok());
  }
  auto longer = bytes;
  longer.push_back({});
  EXPECT_FALSE(decode_record(longer, record).ok());
  auto twice = bytes;
  twice[8] = std::byte{6};  // the same page in both parts
  EXPECT_FALSE(decode_record(twice, record).ok());
}

}  // namespace
}  // namespace farvec::layout
