#include "transport/emulated/device_model.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec::transport {
namespace {

TEST(DeviceModel, ReadsValuesWithUnits) {
  const DeviceModel expected{"custom", 5, 10, 50, 64};
  EXPECT_EQ(parse_device_model("latency=5us,bandwidth=10GB/s,rate=50M/s"), expected);
  EXPECT_EQ(parse_device_model("rate=0.05G/s,latency=5000ns,bandwidth=10000MB/s,block=64"),
            expected);
  EXPECT_EQ(parse_device_model("rdma,latency=1ms,header=0,interruption=0ns"),
            (DeviceModel{"custom", 1000, 25, 100, 64}));
  EXPECT_EQ(parse_device_model("nvm,header=1KiB,interruption=0.25us"),
            (DeviceModel{"custom", 0.4, 60, 234, 256, 0, 1024, 0.25}));
}

TEST(DeviceModel, CoresHaveAPartEach) {
  const DeviceModel model = parse_device_model("rdma,cores=20");
  EXPECT_EQ(to_string(model),
            "rdma: 2.8 us, 25 GB/s, 100 M reads/s, 64 B blocks, 250 B headers, 150 ns "
            "interruptions, 1/20 of it per core");
  EXPECT_EQ(model.slowdown(0), 20);
  EXPECT_EQ(model.slowdown(1), 20);
  EXPECT_EQ(model.slowdown(4), 5);
  EXPECT_EQ(model.slowdown(20), 1);
  EXPECT_EQ(model.slowdown(21), 1);
  EXPECT_EQ(model.part_of(4), (DeviceModel{"rdma", 2.8, 5, 20, 64, 0, 250, 0.75}));
  EXPECT_EQ(parse_device_model("rdma").slowdown(1), 1);
  EXPECT_EQ(parse_device_model("nvm,cores=2,latency=1us").name, "custom");
}

TEST(DeviceModel, AReadTakesTheLinkForItsBlocksAndItsHeader) {
  const DeviceModel model{"test", 1, 2, 10, 64, 0, 100};
  EXPECT_DOUBLE_EQ(model.transfer_ns(1), (100 + 64) / 2.0);
  EXPECT_DOUBLE_EQ(model.transfer_ns(65), (100 + 128) / 2.0);
  EXPECT_DOUBLE_EQ(model.occupied_ns(1), 100) << "by its rate";
  EXPECT_DOUBLE_EQ(model.occupied_ns(640), 370) << "by its bytes";
  EXPECT_EQ(model.bytes_per_request(), 200u);
  EXPECT_EQ((DeviceModel{"test", 1, 2, 10, 64, 0, 300}.bytes_per_request()), 300u);
}

TEST(DeviceModel, AShortReadInterruptsOneLongOne) {
  const DeviceModel model{"test", 1, 2, 10, 64, 0, 0, 0.05};
  EXPECT_DOUBLE_EQ(model.interruptions_ns(3, 10), 150);
  EXPECT_DOUBLE_EQ(model.interruptions_ns(10, 3), 150);
  EXPECT_EQ(model.interruptions_ns(0, 3), 0);
  EXPECT_EQ((DeviceModel{"test", 1, 2, 10, 64}.interruptions_ns(10, 3)), 0);
}

TEST(DeviceModel, RefusesNonsense) {
  for (const char* text : {"",
                           "floppy",
                           "latency=5us",
                           "latency=5,bandwidth=10GB/s,rate=50M/s",
                           "rdma,cxl",
                           "rdma,block=0.5",
                           "rdma,block=0",
                           "rdma,latency=-1us",
                           "rdma,latency=nanus",
                           "rdma,latency=us",
                           "rdma,rate=infM/s",
                           "rdma,colour=red",
                           "rdma,latency=5us5",
                           "latency=5us,,bandwidth=10GB/s,rate=50M/s",
                           "rdma,block=99999999",
                           "rdma,header=-1",
                           "rdma,header=2MiB",
                           "rdma,interruption=-1ns",
                           "rdma,interruption=5",
                           "rdma,latency=0us",
                           "rdma,cores=0",
                           "rdma,cores=1.5",
                           "rdma,cores=",
                           "rdma,cores=4097",
                           "cores=4"}) {
    EXPECT_THROW((void)parse_device_model(text), Error) << text;
  }
}

}  // namespace
}  // namespace farvec::transport
