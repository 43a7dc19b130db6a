#include "base/cluster_words.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec {
namespace {

TEST(ClusterWords, NamesParseBack) {
  for (const auto heads : {HeadKind::means, HeadKind::vectors, HeadKind::rounded}) {
    EXPECT_EQ(parse_heads(to_string(heads)), heads);
  }
  for (const auto closure : {ClosureRule::fitted, ClosureRule::spann, ClosureRule::sptag}) {
    EXPECT_EQ(parse_closure(to_string(closure)), closure);
  }
}

TEST(ClusterWords, OthersAreRefused) {
  EXPECT_THROW((void)parse_heads("medoids"), Error);
  EXPECT_THROW((void)parse_heads(""), Error);
  EXPECT_THROW((void)parse_closure("SPANN"), Error);
}

}  // namespace
}  // namespace farvec
