#include "measure/advise/device/device.h"

#include <gtest/gtest.h>

#include "transport/emulated/device_model.h"

namespace farvec::measure {
namespace {

AdviceDevice waiting_disk() {
  AdviceDevice device{{"ssd:/disk", 90, 1, 0.1, 512},
                      {{512, 10'000, 2'000, 0.9, 1.5}, {4608, 12'000, 3'000, 0.8, 1.25}},
                      64,
                      {{1, 0.1}}};
  device.together = {{16, {{512, 14'000, 2'400, 0.5, 2}, {4608, 20'000, 3'000}}},
                     {64, {{512, 26'000, 2'400}, {4608, 28'000, 5'000}}}};
  return device;
}

TEST(AdviceDevice, ReadsThatAreWaitedForTogetherLieBetweenTheNumbersThatWereMeasured) {
  EXPECT_DOUBLE_EQ(waiting_disk().occupied_ns(1, 0.5), 10'000);
  EXPECT_DOUBLE_EQ(waiting_disk().occupied_ns(1, 4), 12'000);  // half way from 1 to 16
  EXPECT_DOUBLE_EQ(waiting_disk().occupied_ns(1, 16), 14'000);
  EXPECT_DOUBLE_EQ(waiting_disk().occupied_ns(1, 32), 20'000);  // half way from 16 to 64
  EXPECT_DOUBLE_EQ(waiting_disk().occupied_ns(1, 1000), 26'000);
  EXPECT_DOUBLE_EQ(waiting_disk().kernel_ns(1, 4), 2'200);
  // 2049 bytes and the 511 around them lie half way between the sizes: 11,000 and 17,000.
  EXPECT_DOUBLE_EQ(waiting_disk().occupied_ns(2049, 4), 14'000);
}

TEST(AdviceDevice, IsAsFastAndAsSlowAsItsPassesWere) {
  EXPECT_DOUBLE_EQ(waiting_disk().at(Pace::median).occupied_ns(1), 10'000);
  EXPECT_DOUBLE_EQ(waiting_disk().at(Pace::fastest).occupied_ns(1), 9'000);
  EXPECT_DOUBLE_EQ(waiting_disk().at(Pace::slowest).occupied_ns(1), 15'000);
  EXPECT_DOUBLE_EQ(waiting_disk().at(Pace::slowest).occupied_ns(1, 16), 28'000);
  EXPECT_DOUBLE_EQ(waiting_disk().at(Pace::fastest).occupied_ns(1, 4),
                   8'000);  // of 9,000 and 7,000
  EXPECT_DOUBLE_EQ(waiting_disk().at(Pace::slowest).kernel_ns(1), 2'000);
}

TEST(AdviceDeviceText, SaysWhetherItWasMeasured) {
  const AdviceDevice model{transport::parse_device_model("ssd"), {}, 1, {}};
  EXPECT_EQ(to_string(model), transport::to_string(model.model) + " (a model)");
  EXPECT_TRUE(model.is_disk());
  EXPECT_FALSE((AdviceDevice{transport::parse_device_model("rdma"), {}, 1, {}}).is_disk());
}

}  // namespace
}  // namespace farvec::measure
