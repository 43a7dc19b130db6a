#include "layout/crc32c.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "base/random.h"

namespace farvec::layout {
namespace {

/// Bit by bit, as the polynomial says.
std::uint32_t naive_crc32c(std::span<const std::byte> bytes) {
  std::uint32_t remainder = 0xffffffff;
  for (const std::byte byte : bytes) {
    remainder ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? 0x82f63b78u : 0u);
    }
  }
  return ~remainder;
}

TEST(Crc32c, HasTheCheckValueOfItsDefinition) {
  constexpr std::string_view kDigits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(kDigits))), 0xe3069283u);
  EXPECT_EQ(crc32c({}), 0u);
}

TEST(Crc32c, IsThatOfThePolynomialForEveryLengthAndCut) {
  Random random(1);
  std::vector<std::byte> bytes(300);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  for (std::size_t size = 0; size <= bytes.size(); size += 1 + size / 16) {
    const auto whole = std::span<const std::byte>(bytes).first(size);
    const std::uint32_t expected = naive_crc32c(whole);
    EXPECT_EQ(crc32c(whole), expected) << size;
    const std::size_t cut = random.below(size + 1);
    EXPECT_EQ(crc32c(whole.subspan(cut), crc32c(whole.first(cut))), expected) << size;
  }
}

}  // namespace
}  // namespace farvec::layout
