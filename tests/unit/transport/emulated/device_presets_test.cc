#include "transport/emulated/device_presets.h"

#include <gtest/gtest.h>

#include <cmath>

namespace farvec::transport {
namespace {

constexpr double kTenth = 0.1;
constexpr double kPayload = 4096;  ///< among which figure 7 mixes reads of 128 B
constexpr double kSmall = 128;

/// Bytes a nanosecond (GB/s) when reads of `payload` are all that there is.
double bandwidth(const DeviceModel& model, double payload) {
  return payload / model.occupied_ns(payload);
}

/// The share of the bandwidth of reads of 4 KB that is lost when so many of them are small.
double lost(const DeviceModel& model, double share) {
  const double bytes = share * kSmall + (1 - share) * kPayload;
  const double ns = share * model.occupied_ns(kSmall) + (1 - share) * model.occupied_ns(kPayload) +
                    model.interruptions_ns(share, 1 - share);
  return 1 - bytes / ns / bandwidth(model, kPayload);
}

double most_lost(const DeviceModel& model) {
  double most = 0;
  for (int tenths = 1; tenths <= 9; ++tenths) most = std::max(most, lost(model, tenths / 10.0));
  return most;
}

/// The least power of two that has nearly all of the bandwidth.
double saturating_payload(const DeviceModel& model) {
  double payload = 64;
  while (bandwidth(model, payload) < (1 - kTenth) * model.bandwidth_gbps) payload *= 2;
  return payload;
}

TEST(DevicePresets, AreThese) {
  EXPECT_EQ(to_string(parse_device_model("rdma")),
            "rdma: 2.8 us, 25 GB/s, 100 M reads/s, 64 B blocks, 250 B headers, 150 ns "
            "interruptions");
  EXPECT_EQ(to_string(parse_device_model("cxl")),
            "cxl: 0.3 us, 32 GB/s, 400 M reads/s, 64 B blocks");
  EXPECT_EQ(to_string(parse_device_model("nvm")),
            "nvm: 0.4 us, 60 GB/s, 234 M reads/s, 256 B blocks, 33 ns interruptions");
  EXPECT_EQ(to_string(parse_device_model("ssd")),
            "ssd: 75 us, 5.3 GB/s, 0.6 M reads/s, 512 B blocks");
  EXPECT_EQ(device_presets().size(), 4u);
}

TEST(DevicePresets, HaveTheirBandwidthFromThePayloadsOfFigure6On) {
  EXPECT_EQ(saturating_payload(parse_device_model("rdma")), 4096);
  EXPECT_EQ(saturating_payload(parse_device_model("cxl")), 128);
  EXPECT_EQ(saturating_payload(parse_device_model("nvm")), 256);
  // 0.6 M reads of 4 KB a second (equation 2) are 2.5 GB/s: the figure and the equation differ.
  EXPECT_EQ(saturating_payload(parse_device_model("ssd")), 8192);
  EXPECT_EQ(saturating_payload(parse_device_model("ssd,rate=1.7M/s")), 4096);
}

TEST(DevicePresets, LoseByTheSmallReadsOfFigure7) {
  EXPECT_NEAR(most_lost(parse_device_model("rdma")), 0.488, 0.488 * kTenth);
  EXPECT_NEAR(lost(parse_device_model("rdma"), 0.5), 0.488, 0.488 * kTenth);
  EXPECT_NEAR(most_lost(parse_device_model("nvm")), 0.375, 0.375 * kTenth);
  EXPECT_NEAR(lost(parse_device_model("nvm"), 0.9), 0.375, 0.375 * kTenth);
  EXPECT_LT(most_lost(parse_device_model("cxl")), 0.01);
  EXPECT_NEAR(most_lost(parse_device_model("ssd")), 0.833, 0.833 * kTenth);
  EXPECT_NEAR(lost(parse_device_model("ssd,rate=1.7M/s"), 0.5), 0.43, 0.43 * kTenth);
  EXPECT_NEAR(lost(parse_device_model("ssd,rate=1.7M/s"), 0.9), 0.833, 0.833 * kTenth);
}

TEST(DevicePresets, TheDiskFollowsTheEquations) {
  const DeviceModel ssd = parse_device_model("ssd");
  EXPECT_NEAR(1e3 / ssd.occupied_ns(580), 0.6, 1e-9) << "equation 2: reads of a graph, M/s";
  EXPECT_NEAR(1e3 / ssd.occupied_ns(4096), 0.6, 1e-9);
  EXPECT_NEAR(bandwidth(ssd, 1 << 20), 5.3, 1e-9) << "equation 3: reads of clusters";
}

}  // namespace
}  // namespace farvec::transport
