#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "measure/advise/device/device.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::measure {
namespace {

class DeviceFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    const std::string path = folder_.file("lab-cxl.device");
    std::ofstream(path) << text;
    return path;
  }

  tests::TemporaryFolder folder_;
};

TEST_F(DeviceFile, HoldsWordsOnLinesAndRemarks) {
  const auto [device, disk] = read_device(
      write("# the expander in the lab\nlatency=350ns\nbandwidth=28GB/s rate=400M/s # reads\n"));
  EXPECT_EQ(device.name, "lab-cxl");
  EXPECT_EQ(disk, "");
  EXPECT_DOUBLE_EQ(device.latency_us, 0.35);
  EXPECT_DOUBLE_EQ(device.bandwidth_gbps, 28);
  EXPECT_DOUBLE_EQ(device.requests_per_us, 400);
  EXPECT_EQ(device.block_bytes, 64u);
}

TEST_F(DeviceFile, BeginsWithAPreset) {
  const auto [device, disk] = read_device(write("nvm, latency=1.5us\nblock=128"));
  EXPECT_EQ(disk, "");
  EXPECT_DOUBLE_EQ(device.latency_us, 1.5);
  EXPECT_DOUBLE_EQ(device.bandwidth_gbps, 60);
  EXPECT_EQ(device.block_bytes, 128u);
}

TEST_F(DeviceFile, WordsNeedNoFile) {
  EXPECT_EQ(read_device("cxl").model, transport::parse_device_model("cxl"));
  EXPECT_DOUBLE_EQ(read_device("rdma,latency=9us").model.latency_us, 9);
}

TEST_F(DeviceFile, ADiskIsNamedByItsPath) {
  EXPECT_EQ(read_device("ssd:/srv/data").disk, "/srv/data");
  EXPECT_EQ(read_device("ssd").disk, "");
  EXPECT_EQ(read_device("ssd").model, transport::parse_device_model("ssd"));
  EXPECT_THROW(read_device("ssd:"), Error);
}

TEST_F(DeviceFile, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(read_device("floppy"), Error);
  EXPECT_THROW(read_device(write("")), Error);
  EXPECT_THROW(read_device(write("# nothing\n")), Error);
  EXPECT_THROW(read_device(write("latency=3us\n")), Error);
  EXPECT_THROW(read_device(write("rdma\nspeed=3\n")), Error);
}

}  // namespace
}  // namespace farvec::measure
