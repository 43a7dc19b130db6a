#include "attributes/dictionary.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace farvec::attributes {
namespace {

TEST(Dictionary, GivesCodesInTheOrderOfItsStrings) {
  const std::vector<std::string> texts = {"b", "", "ab", "b", "a\xff", "abc", "ab"};
  DictionaryBuilder builder;
  std::vector<std::uint32_t> numbers;
  for (const std::string& text : texts) numbers.push_back(builder.number_of(text));
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 1, 2, 0, 3, 4, 2}));
  const Dictionary dictionary = builder.dictionary();
  const std::vector<std::uint32_t> codes = builder.codes();
  ASSERT_EQ(dictionary.size(), 5u);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(dictionary[codes[numbers[i]]], texts[i]);
    EXPECT_EQ(dictionary.find(texts[i]), codes[numbers[i]]);
  }
  for (std::uint32_t code = 1; code < dictionary.size(); ++code) {
    EXPECT_LT(dictionary[code - 1], dictionary[code]);
  }
  EXPECT_EQ(dictionary.find("aa"), std::nullopt);
  EXPECT_EQ(dictionary.find("c"), std::nullopt);
  EXPECT_EQ(dictionary.count_below("ab"), 1u);
  EXPECT_EQ(dictionary.count_below("abb"), 2u);
  EXPECT_EQ(dictionary.count_below("zz"), 5u);
  EXPECT_EQ(dictionary.end_of_prefix(1, "ab"), 3u);
  EXPECT_EQ(dictionary.end_of_prefix(1, "a"), 4u);
}

TEST(Dictionary, MayBeEmpty) {
  const Dictionary dictionary = DictionaryBuilder().dictionary();
  EXPECT_EQ(dictionary.size(), 0u);
  EXPECT_EQ(dictionary.find(""), std::nullopt);
  EXPECT_EQ(dictionary.end_of_prefix(0, "a"), 0u);
}

}  // namespace
}  // namespace farvec::attributes
