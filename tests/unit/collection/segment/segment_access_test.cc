#include "collection/segment/segment_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status_error.h"

namespace farvec::collection {
namespace {

using ::testing::HasSubstr;

TEST(SegmentAccess, ManySegmentsLieOnTiersOfThisProcess) {
  for (const char* tier : {"dram", "shm", "numa:0", "emulated:rdma", "ssd",
                           "emulated:latency=5us,bandwidth=10GB/s,rate=50M/s"}) {
    EXPECT_EQ(SegmentAccess::of_many(tier).tier->name().substr(0, 3), std::string(tier, 3));
  }
}

TEST(SegmentAccess, TiersOfOneFileOrAnotherMachineAreRefused) {
  for (const char* tier : {"file:/tmp/x", "devdax:/dev/dax0.0", "pmem:/mnt/x", "ssd:/tmp",
                           "verbs:host:7700", "fabric:tcp:host:7700", "tape", ""}) {
    SCOPED_TRACE(tier);
    try {
      (void)SegmentAccess::of_many(tier);
      ADD_FAILURE() << "it is taken";
    } catch (const StatusError& error) {
      EXPECT_EQ(error.code, StatusCode::invalid_argument);
      EXPECT_THAT(error.what(), HasSubstr(tier));
    }
  }
}

TEST(SegmentAccess, AModelledDeviceIsToldWithItsNumbers) {
  EXPECT_EQ(modelled_device(SegmentAccess::on("dram")), "");
  EXPECT_EQ(modelled_device(SegmentAccess::on("ssd")), "");
  const std::string device = modelled_device(SegmentAccess::on("emulated:rdma"));
  EXPECT_THAT(device, HasSubstr("emulated("));
  EXPECT_THAT(device, HasSubstr("us"));
}

}  // namespace
}  // namespace farvec::collection
