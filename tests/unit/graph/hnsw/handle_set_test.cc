#include "graph/hnsw/handle_set.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace farvec::graph {
namespace {

TEST(HandleSet, KnowsWhatWasInsertedAsItGrows) {
  HandleSet handles;
  handles.reset(1);
  std::set<Handle> oracle;
  Random random(5);
  for (int i = 0; i < 20'000; ++i) {
    const Handle handle = random.below(10'000) << 16 | random.below(2);
    EXPECT_EQ(handles.insert(handle), oracle.insert(handle).second);
  }
  EXPECT_EQ(handles.size(), oracle.size());
}

TEST(HandleSet, ForgetsOnReset) {
  HandleSet handles;
  handles.reset(1000);
  EXPECT_TRUE(handles.insert(0));
  EXPECT_FALSE(handles.insert(0));
  handles.reset(10);
  EXPECT_TRUE(handles.insert(0));
  EXPECT_EQ(handles.size(), 1u);
  const std::size_t before = handles.dram_bytes();
  handles.reset(1000);
  EXPECT_EQ(handles.dram_bytes(), before);
}

}  // namespace
}  // namespace farvec::graph
