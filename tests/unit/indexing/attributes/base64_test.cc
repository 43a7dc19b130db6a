#include "indexing/attributes/base64.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace farvec::indexing {
namespace {

TEST(Base64, HasTheFormOfTheStandard) {  // RFC 4648, section 10
  const char* const pairs[][2] = {{"", ""},
                                  {"f", "Zg=="},
                                  {"fo", "Zm8="},
                                  {"foo", "Zm9v"},
                                  {"foob", "Zm9vYg=="},
                                  {"fooba", "Zm9vYmE="},
                                  {"foobar", "Zm9vYmFy"},
                                  {"\xff\xfe", "//4="},
                                  {"\xfb\xf0", "+/A="}};
  for (const auto& [bytes, text] : pairs) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, ThereAndBackIsTheSame) {
  Random random(3);
  for (std::size_t length = 0; length < 200; ++length) {
    std::string bytes;
    for (std::size_t i = 0; i < length; ++i) bytes += static_cast<char>(random.next());
    EXPECT_EQ(to_base64(bytes).size(), (length + 2) / 3 * 4);
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
}

TEST(Base64, OtherTextsAreRefused) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "====", "=", "Zh==", "Zm9=", "Zm 9v",
                           "Zm9v\n", "Zm-v", "Zg==Zg=="}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace farvec::indexing
