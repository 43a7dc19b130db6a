#include "transport/registered_memory.h"

#include <gtest/gtest.h>

namespace farvec::transport {
namespace {

TEST(RegisteredMemory, FindsTheRangeThatHoldsAllOfARead) {
  std::byte memory[200];
  RegisteredMemory<int> registered;
  registered.add({memory, 100}, 1);
  registered.add({memory + 100, 100}, 2);
  EXPECT_EQ(*registered.find(memory, 100), 1);
  EXPECT_EQ(*registered.find(memory + 150, 50), 2);
  EXPECT_EQ(registered.find(memory + 50, 100), nullptr) << "across two ranges";
  EXPECT_EQ(registered.find(memory + 150, 51), nullptr);
}

// Memory that was given back may come again at the same address, as other pages.
TEST(RegisteredMemory, ANewRangeTakesThePlaceOfOldOnesAtItsAddresses) {
  std::byte memory[300];
  RegisteredMemory<int> registered;
  registered.add({memory, 100}, 1);
  registered.add({memory + 100, 100}, 2);
  registered.add({memory + 50, 100}, 3);
  EXPECT_EQ(*registered.find(memory + 60, 10), 3);
  EXPECT_EQ(*registered.find(memory + 110, 10), 3);
  EXPECT_EQ(registered.find(memory, 10), nullptr);
  EXPECT_EQ(registered.find(memory + 160, 10), nullptr);
}

}  // namespace
}  // namespace farvec::transport
