#include "transport/mapped/mapped_writer.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>

#include "tests/unit/transport/test_regions.h"

namespace farvec::transport {
namespace {

RegionSet two_regions() {
  RegionSet regions;
  regions.push_back(random_region(10'000, 1));
  regions.push_back(random_region(100, 2));
  return regions;
}

TEST(MappedWriter, NobodyIsWatchedWithoutAConnection) {
  MappedWriter writer(two_regions(), Descriptor());
  const std::vector<std::byte> bytes(100, std::byte{3});
  EXPECT_TRUE(writer.write(1, 0, bytes).ok());
  EXPECT_TRUE(writer.flush().ok());
  EXPECT_EQ(writer.region_bytes(0), 10'000u);
  EXPECT_EQ(writer.write(1, 1, bytes).code(), StatusCode::invalid_argument);
}

TEST(MappedWriter, StoresNothingOnceTheNodeHasHungUp) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  Descriptor node(ends[0]);
  RegionSet regions = two_regions();
  const std::byte* const memory = regions[0].bytes().data();
  MappedWriter writer(std::move(regions), Descriptor(ends[1]));
  const std::vector<std::byte> before(100, std::byte{3});
  ASSERT_TRUE(writer.write(0, 0, before).ok());
  node.reset();
  EXPECT_EQ(writer.flush().code(), StatusCode::unavailable) << "it was written too late";
  const std::vector<std::byte> after(100, std::byte{4});
  EXPECT_EQ(writer.write(0, 0, after).code(), StatusCode::unavailable);
  EXPECT_EQ(std::memcmp(memory, before.data(), before.size()), 0);
  EXPECT_EQ(writer.status().code(), StatusCode::unavailable);
}

}  // namespace
}  // namespace farvec::transport
