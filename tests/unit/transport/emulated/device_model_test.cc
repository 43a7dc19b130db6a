#include "transport/emulated/device_model.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec::transport {
namespace {

TEST(DeviceModel, PresetsAreTableOne) {
  EXPECT_EQ(to_string(parse_device_model("rdma")),
            "rdma: 2.8 us, 25 GB/s, 100 M reads/s, 64 B blocks");
  EXPECT_EQ(to_string(parse_device_model("cxl")),
            "cxl: 0.3 us, 32 GB/s, 500 M reads/s, 64 B blocks");
  EXPECT_EQ(to_string(parse_device_model("nvm")),
            "nvm: 0.4 us, 60 GB/s, 234 M reads/s, 256 B blocks");
  EXPECT_EQ(to_string(parse_device_model("ssd")),
            "ssd: 75 us, 5.3 GB/s, 1.3 M reads/s, 512 B blocks");
}

TEST(DeviceModel, ReadsValuesWithUnits) {
  const DeviceModel expected{"custom", 5, 10, 50, 64};
  EXPECT_EQ(parse_device_model("latency=5us,bandwidth=10GB/s,rate=50M/s"), expected);
  EXPECT_EQ(parse_device_model("rate=0.05G/s,latency=5000ns,bandwidth=10000MB/s,block=64"),
            expected);
  EXPECT_EQ(parse_device_model("rdma,latency=1ms"), (DeviceModel{"custom", 1000, 25, 100, 64}));
}

TEST(DeviceModel, CoresHaveAPartEach) {
  const DeviceModel model = parse_device_model("rdma,cores=20");
  EXPECT_EQ(to_string(model),
            "rdma: 2.8 us, 25 GB/s, 100 M reads/s, 64 B blocks, 1/20 of it per core");
  EXPECT_EQ(model.slowdown(0), 20);
  EXPECT_EQ(model.slowdown(1), 20);
  EXPECT_EQ(model.slowdown(4), 5);
  EXPECT_EQ(model.slowdown(20), 1);
  EXPECT_EQ(model.slowdown(21), 1);
  EXPECT_EQ(model.part_of(4), (DeviceModel{"rdma", 2.8, 5, 20, 64}));
  EXPECT_EQ(parse_device_model("rdma").slowdown(1), 1);
  EXPECT_EQ(parse_device_model("nvm,cores=2,latency=1us").name, "custom");
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
