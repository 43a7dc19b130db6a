#include "cli/advise/device.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::cli {
namespace {

TEST(MeasureDisk, SaysWhatReadsOfEachSizeTook) {
  tests::TemporaryFolder folder;
  const AdviceDevice disk = measure_disk({folder.path().string(), 4 << 20}, 1);
  EXPECT_EQ(folder.entries(), 0u);
  EXPECT_TRUE(disk.is_measured());
  EXPECT_TRUE(disk.is_disk());
  EXPECT_EQ(disk.model.name, "ssd:" + folder.path().string());
  EXPECT_GT(disk.model.latency_us, 0);
  ASSERT_GE(disk.measured.size(), 2u);
  EXPECT_EQ(disk.measured.front().bytes, disk.model.block_bytes);
  EXPECT_EQ(disk.measured.back().bytes, 65536);
  for (std::size_t i = 1; i < disk.measured.size(); ++i) {
    EXPECT_LT(disk.measured[i - 1].bytes, disk.measured[i].bytes);
    EXPECT_LE(disk.measured[i - 1].occupied_ns, disk.measured[i].occupied_ns);
    EXPECT_LE(disk.measured[i - 1].kernel_ns, disk.measured[i].kernel_ns);
  }
  for (const DepthShare& fewer : disk.shallow) {
    EXPECT_LT(fewer.depth, disk.depth);
    EXPECT_LT(fewer.share, 0.95);
  }
  EXPECT_NEAR(disk.model.requests_per_us * disk.measured.front().occupied_ns, 1e3, 1e-6);
  EXPECT_TRUE(to_string(disk).ends_with("(measured here)"));
}

TEST(MeasureDisk, ASmallFileHasNoLargeReads) {
  tests::TemporaryFolder folder;
  std::ofstream(folder.file("small"), std::ios::binary) << std::string(9000, 'x');
  const AdviceDevice disk = measure_disk({folder.file("small"), 1}, 1);
  EXPECT_LE(disk.measured.back().bytes, 9000);
}

TEST(MeasureDisk, RefusesWhatIsNoDisk) {
  tests::TemporaryFolder folder;
  EXPECT_THROW(measure_disk({folder.file("none"), 4096}, 1), Error);
  EXPECT_THROW(measure_disk({folder.path().string(), std::uint64_t{1} << 60}, 1), Error);
  EXPECT_THROW(measure_disk({"/dev/null", 4096}, 1), Error);
  std::ofstream(folder.file("empty"), std::ios::binary);
  EXPECT_THROW(measure_disk({folder.file("empty"), 4096}, 1), Error);
}

TEST(AdviceDeviceText, SaysWhetherItWasMeasured) {
  const AdviceDevice model{transport::parse_device_model("ssd"), {}, 1, {}};
  EXPECT_EQ(to_string(model), transport::to_string(model.model) + " (a model)");
  EXPECT_TRUE(model.is_disk());
  EXPECT_FALSE((AdviceDevice{transport::parse_device_model("rdma"), {}, 1, {}}).is_disk());
}

}  // namespace
}  // namespace farvec::cli
