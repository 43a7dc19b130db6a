#include "layout/store/page_change.h"

#include "tests/unit/layout/store/page_model.h"

namespace farvec::layout {
namespace {

class PageChangesTest : public testing::TestWithParam<std::uint32_t> {};

bool same_change(const PageChange& a, const PageChange& b) {
  return a.change == b.change && a.slot == b.slot && a.offset == b.offset && a.kind == b.kind &&
         a.tag == b.tag && a.next == b.next && std::ranges::equal(a.bytes, b.bytes);
}

TEST_P(PageChangesTest, AnyChangesLeaveWhatAMapHolds) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Random random(seed);
    std::vector<std::byte> page(GetParam());
    format_page(page, 5);
    PageModel model;
    std::vector<std::byte> memory;
    for (int i = 0; i < 1500; ++i) {
      const PageChange change = random_change(random, model, page.size(), memory);
      const auto before = page;
      const Status status = apply_change(page, change);
      ASSERT_EQ(status.code(), model.apply(change, page.size())) << status.message();
      if (!status.ok()) {
        ASSERT_EQ(page, before);
      }
      ASSERT_NO_FATAL_FAILURE(model.expect(page, 5));
    }
  }
}

TEST_P(PageChangesTest, DecodedChangesMakeTheSameBytes) {
  Random random(3);
  std::vector<std::byte> first(GetParam());
  format_page(first, 0);
  auto second = first;
  PageModel model;
  std::vector<std::byte> memory;
  for (int i = 0; i < 2000; ++i) {
    const PageChange change = random_change(random, model, first.size(), memory);
    if (!apply_change(first, change).ok()) continue;
    ASSERT_EQ(model.apply(change, first.size()), StatusCode::ok);
    std::vector<std::byte> encoded;
    encode(change, encoded);
    std::span<const std::byte> rest(encoded);
    const auto decoded = decode_change(rest);
    ASSERT_TRUE(decoded.ok());
    EXPECT_TRUE(rest.empty());
    ASSERT_TRUE(same_change(decoded.value(), change));
    ASSERT_TRUE(apply_change(second, decoded.value()).ok());
    ASSERT_EQ(first, second);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PageChangesTest, testing::Values(4096, 8192, 16384, 32768));

TEST(PageChangeTest, CutAndForeignBytesAreNoChange) {
  std::vector<std::byte> encoded;
  const std::vector<std::byte> tuple(9, std::byte{1});
  encode({.change = ChangeKind::put, .slot = 3, .bytes = tuple}, encoded);
  for (std::size_t bytes = 0; bytes < encoded.size(); ++bytes) {
    auto rest = std::span<const std::byte>(encoded).first(bytes);
    EXPECT_EQ(decode_change(rest).status().code(), StatusCode::data_loss);
  }
  for (const int kind : {0, 7, 255}) {
    auto wrong = encoded;
    wrong[0] = static_cast<std::byte>(kind);
    std::span<const std::byte> rest(wrong);
    EXPECT_EQ(decode_change(rest).status().code(), StatusCode::data_loss);
  }
}

TEST(PageChangeTest, TheLongestTupleFillsAPage) {
  std::vector<std::byte> page(4096);
  format_page(page, 1);
  const std::vector<std::byte> longest(max_tuple_bytes(4096), std::byte{3});
  const std::vector<std::byte> longer(max_tuple_bytes(4096) + 1, std::byte{3});
  EXPECT_EQ(apply_change(page, {.change = ChangeKind::put, .bytes = longer}).code(),
            StatusCode::resource_exhausted);
  EXPECT_TRUE(apply_change(page, {.change = ChangeKind::put, .bytes = longest}).ok());
  EXPECT_EQ(StorePage(page).room(), 0u);
  EXPECT_EQ(StorePage(page).hole_bytes(), 0u);
}

}  // namespace
}  // namespace farvec::layout
