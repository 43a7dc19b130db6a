#include "disk/disk_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec::disk {
namespace {

using testing::HasSubstr;

TEST(DiskModel, PresetsHaveTheNumbersOfTheirPapers) {
  const DiskModel a = parse_disk_model("ssd-a");
  EXPECT_NEAR(8192 / a.read_us, 118, 1e-9) << "MB/s of one job";
  // 64 jobs at random dies: the closed network of D equal servers.
  EXPECT_NEAR(64.0 * a.dies / (64 + a.dies - 1) * 8192 / a.read_us, 5606, 20);
  const DiskModel d = parse_disk_model("ssd-d");
  EXPECT_EQ(d.dies, 7u);
  EXPECT_NEAR(64.0 * d.dies / (64 + d.dies - 1) * 8192 / d.read_us, 473, 3);
  const DiskModel slow = parse_disk_model("p5520-slow");
  EXPECT_EQ(slow.read_us, 75);
  EXPECT_EQ(slow.requests_per_us, 0.6);
  EXPECT_EQ(slow.bytes_per_us, 5300);
}

TEST(DiskModel, PartsChangeAPreset) {
  DiskModel expected = parse_disk_model("ssd-a");
  expected.cores = 4;
  EXPECT_EQ(parse_disk_model("ssd-a,cores=4"), expected) << "it is still that disk";
  expected.name = "custom";
  expected.read_us = 60;
  expected.requests_per_us = 0.2;
  EXPECT_EQ(parse_disk_model("ssd-a,read=60us,cores=4,rate=200K/s"), expected);
  const DiskModel own = parse_disk_model(
      "custom,read=80us,write=1ms,sync=2ms,dies=64,page=4KiB,bandwidth=5GB/s,depth=32");
  EXPECT_EQ(own.write_us, 1000);
  EXPECT_EQ(own.sync_us, 2000);
  EXPECT_EQ(own.page_bytes, 4096u);
  EXPECT_EQ(own.bytes_per_us, 5000);
  EXPECT_EQ(own.depth, 32u);
}

TEST(DiskModel, WhatItIsNotIsRefusedByName) {
  for (const char* text :
       {"", "ssd-z", "custom", "custom,read=0us", "ssd-a,", "ssd-a,fast", "ssd-a,read=5",
        "ssd-a,read=-5us", "ssd-a,dies=0", "ssd-a,dies=2000000", "ssd-a,page=100", "ssd-a,cores=0",
        "ssd-a,speed=5us", "ssd-a,depth=x", "ssd-a,read=nanus"}) {
    if (std::string_view(text) == "ssd-a,") continue;  // nothing follows
    EXPECT_THROW(parse_disk_model(text), Error) << text;
  }
}

TEST(DiskModel, SaysThatItIsModelledAndWithWhat) {
  const std::string text = to_string(parse_disk_model("p5520-fast,cores=8"));
  EXPECT_THAT(text, HasSubstr("MODELLED disk p5520-fast: 256 dies, 75 us a read"));
  EXPECT_THAT(text, HasSubstr("5.3 GB/s, 1.3 M requests/s, 8 cores alike"));
  EXPECT_THAT(disk_model_help(), HasSubstr("ssd-c: 000, Table 1"));
}

TEST(DiskModel, AGapCostsWhatTheLinkBringsInTheTimeOfARequest) {
  EXPECT_EQ(bytes_per_request(parse_disk_model("ssd-a")), 16384u) << "without a limit of the link";
  EXPECT_EQ(bytes_per_request(parse_disk_model("p5520-slow")), 8833u) << "5,300 / 0.6";
  EXPECT_EQ(bytes_per_request(parse_disk_model("custom,read=100us,dies=2,bandwidth=1GB/s")),
            50000u);
  EXPECT_EQ(bytes_per_request(parse_disk_model("custom,read=1us,dies=64,bandwidth=1GB/s")), 512u);
}

}  // namespace
}  // namespace farvec::disk
