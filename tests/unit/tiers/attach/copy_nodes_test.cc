#include "tiers/attach/copy_nodes.h"

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

struct CopyNodesTest : testing::Test {
  tests::TemporaryFolder folder;
  layout::RandomIndex random{100};
  const layout::Manifest index = random.write(folder.file("index"));

  /// Names nodes at whose addresses nothing listens.
  CopyNodesOptions absent(std::size_t nodes) const {
    CopyNodesOptions options;
    for (std::size_t i = 0; i < nodes; ++i) {
      options.addresses.push_back(rpc::parse_address("unix:" + folder.file(std::to_string(i))));
    }
    return options;
  }
};

TEST_F(CopyNodesTest, AreThereBeforeAnyNodeIs) {
  CopyNodes nodes(index, absent(2));
  EXPECT_EQ(nodes.manifest().count, 100u);
  ASSERT_TRUE(nodes.manifest().placement.has_value());
  EXPECT_EQ(nodes.manifest().placement->replicas, 2u);
  EXPECT_EQ(nodes.members().size(), 2u);
  EXPECT_FALSE(nodes.members()[0].attached);
  EXPECT_EQ(nodes.regions(), nullptr);
  EXPECT_FALSE(nodes.superseded());
}

TEST_F(CopyNodesTest, AreNeverLost) {
  CopyNodes nodes(index, absent(2));
  EXPECT_THROW((void)nodes.make_endpoint(), UnreachableError);
  try {
    nodes.wait_ready(10ms);
    FAIL() << "no node is there";
  } catch (const UnreachableError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("unix:" + folder.file("0")),
                                    HasSubstr("unix:" + folder.file("1"))));
  }
  EXPECT_TRUE(nodes.alive());
}

TEST_F(CopyNodesTest, TheWaitEndsWhenItIsStopped) {
  CopyNodes nodes(index, absent(1));
  const std::atomic<bool> stop{true};
  EXPECT_THROW(nodes.wait_ready(1h, &stop), UnreachableError);  // the test's time-out comes before
}

TEST_F(CopyNodesTest, RefuseWhatCannotBeCopies) {
  EXPECT_THROW(CopyNodes(index, absent(0)), Error);
  EXPECT_THROW(CopyNodes(index, absent(layout::PlacedExtent::kMaxCopies + 1)), Error);
  layout::Manifest placed = index;
  placed.placement = layout::full_copies(index.region_bytes(), 1);
  EXPECT_THROW(CopyNodes(placed, absent(1)), Error);
}

}  // namespace
}  // namespace farvec::tiers
