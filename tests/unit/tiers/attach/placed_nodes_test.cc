#include "tiers/attach/placed_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/unreachable_error.h"
#include "tests/unit/layout/index/index_fixture.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::tiers {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

/// Sets of nodes whose addresses nobody listens at.
struct PlacedNodesTest : testing::Test {
  tests::TemporaryFolder folder;

  PlacedNodesOptions options(bool await_absent) const {
    PlacedNodesOptions made;
    made.addresses = rpc::parse_addresses("unix:" + folder.file("a") + ",unix:" + folder.file("b"));
    made.await_absent = await_absent;
    return made;
  }
  static std::string why_not_ready(NodeSet& set, std::chrono::milliseconds bound) {
    try {
      set.wait_ready(bound);
    } catch (const UnreachableError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(PlacedNodesTest, AbsentNodesAreToldAtOnceWhenNobodyWaitsForThem) {
  PlacedNodes set(options(false));
  EXPECT_THAT(why_not_ready(set, 1h),  // the test's time-out comes before
              AllOf(HasSubstr("nothing listens at unix:" + folder.file("a")),
                    HasSubstr("nothing listens at unix:" + folder.file("b"))));
}

TEST_F(PlacedNodesTest, AbsentNodesAreWaitedForWithinTheBound) {
  PlacedNodes set(options(true));
  const std::string first = "nothing listens at unix:" + folder.file("a");
  // A busy machine may need more than one bound for the first answer; the test's time-out comes
  // before it needs for ever.
  std::string why;
  do {
    why = why_not_ready(set, 100ms);
    ASSERT_THAT(why, HasSubstr("unix:" + folder.file("a")));  // each wait ends with its bound
  } while (why.find(first) == std::string::npos);
}

TEST_F(PlacedNodesTest, AtLeastOneIsNamed) {
  EXPECT_THROW(PlacedNodes{PlacedNodesOptions{}}, Error);
}

}  // namespace
}  // namespace farvec::tiers
