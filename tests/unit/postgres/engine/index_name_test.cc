#include "postgres/engine/index_name.h"

#include <gtest/gtest.h>

#include <string>

namespace farvec::postgres {
namespace {

TEST(IndexNames, AreReadAsTheyWereWritten) {
  for (const IndexName& name :
       {IndexName{}, IndexName{1, 1663, 5, 16'384}, IndexName{~0ull, ~0u, ~0u, ~0u}}) {
    EXPECT_EQ(parse_index_name(to_string(name)), name);
    EXPECT_EQ(name_of(asked_of(name)), name);
  }
  EXPECT_EQ(to_string(IndexName{0xabc, 1663, 5, 16'384}), "1663-5-16384-0000000000000abc");
}

TEST(IndexNames, AnotherSpellingIsNone) {
  for (const std::string text :
       {"", "segment", "1-2-3", "1-2-3-4", "1-2-3-000000000000000G", "1-2-3-0000000000000abc ",
        "+1-2-3-0000000000000abc", "1-2-3-0000000000000ABC", "01-2-3-0000000000000abc",
        "leaving-1-2-3-0000000000000abc", "4294967296-2-3-0000000000000abc"}) {
    EXPECT_EQ(parse_index_name(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace farvec::postgres
