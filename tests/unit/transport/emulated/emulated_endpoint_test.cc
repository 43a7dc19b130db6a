#include "transport/emulated/emulated_endpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/unit/transport/test_regions.h"

namespace farvec::transport {
namespace {

constexpr int kAttempts = 20;

class EmulatedTest : public testing::Test {
 protected:
  std::unique_ptr<Endpoint> make(const DeviceModel& model) {
    return std::make_unique<EmulatedEndpoint>(std::make_unique<MappedEndpoint>(regions_),
                                              std::make_shared<Device>(model));
  }

  /// Microseconds from post to the last completion of `count` reads of `bytes` each.
  double elapsed_us(Endpoint& endpoint, std::size_t count, std::uint32_t bytes) {
    const std::vector<ReadRequest> reads(count, {.bytes = bytes, .destination = buffer_.data()});
    std::vector<Completion> completions(count);
    const Ticks start = now_ticks();
    EXPECT_TRUE(endpoint.post(reads).ok());
    for (std::size_t done = 0; done < count;) done += endpoint.poll(completions);
    return ticks_to_us(now_ticks() - start);
  }

  /// Never faster than `asked_us`. How much slower depends on who else wants the core; that the
  /// device itself asks for no more, its times tell (Device.KeepsOneQueue).
  void expect_takes(const DeviceModel& model, std::size_t count, std::uint32_t bytes,
                    double asked_us) {
    const auto endpoint = make(model);
    double best = 1e9;
    for (int i = 0; i < kAttempts; ++i) best = std::min(best, elapsed_us(*endpoint, count, bytes));
    EXPECT_GE(best, asked_us * 0.999) << to_string(model);
  }

  std::shared_ptr<const RegionSet> regions_ = random_regions();
  std::vector<std::byte> buffer_ = std::vector<std::byte>(8192);
};

TEST_F(EmulatedTest, TakesItsLatency) {
  expect_takes({"slow", 200, 10, 50, 64}, 1, 64, 200);
}

TEST_F(EmulatedTest, TakesItsBandwidth) {
  expect_takes({"narrow", 1, 1, 50, 64}, 500, 1024, 1 + 512);
}

TEST_F(EmulatedTest, TakesItsRequestRate) {
  expect_takes({"few", 1, 100, 0.5, 64}, 200, 64, 1 + 199 * 2);
}

TEST_F(EmulatedTest, RoundsUpToBlocks) {
  expect_takes({"blocks", 1, 1, 50, 4096}, 100, 100, 1 + 409.6);
}

TEST_F(EmulatedTest, PresetsTakeTheirLatency) {
  for (const char* preset : {"rdma", "ssd"}) {
    const DeviceModel model = parse_device_model(preset);
    expect_takes(model, 1, 256, model.latency_us);
  }
}

TEST_F(EmulatedTest, CompletesInOrderOfPosting) {
  const auto endpoint = make(parse_device_model("nvm"));
  std::vector<ReadRequest> reads;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::uint32_t bytes = i % 3 == 0 ? 5000 : 10;
    reads.push_back({.token = i, .bytes = bytes, .destination = buffer_.data()});
  }
  ASSERT_TRUE(endpoint->post(reads).ok());
  const auto completions = collect(*endpoint, 100);
  ASSERT_EQ(completions.size(), 100u);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(completions[i].token, i);
}

TEST_F(EmulatedTest, SaysWhatItModels) {
  EXPECT_EQ(make(parse_device_model("cxl"))->description(),
            "emulated(cxl: 0.3 us, 32 GB/s, 400 M reads/s, 64 B blocks)");
}

// The oracle: one queue with exact arithmetic, and a read waits for all before it.
TEST(Device, KeepsOneQueue) {
  const DeviceModel model{"oracle", 100, 2, 4, 64, 0, 30};
  Random random(5);
  std::vector<std::uint32_t> bytes(200);
  for (std::uint32_t& length : bytes) length = static_cast<std::uint32_t>(random.below(3000));
  double link_us = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double transfer_us = (30 + (bytes[i] + 63) / 64 * 64) / 2000.0;
    const double expected_us = link_us + transfer_us + 100;
    link_us += std::max(transfer_us, 0.25);
    DeviceReader device(std::make_shared<Device>(model));
    const Ticks before = now_ticks();
    const Ticks there = device.reserve(std::span(bytes).first(i + 1));
    const Ticks after = now_ticks();
    EXPECT_GE(there, before + us_to_ticks(expected_us));
    EXPECT_LE(there, after + us_to_ticks(expected_us + 0.1));
  }
}

/// Ticks between the arrivals of `count` reads of one block each, each posted behind the others, of
/// a device of 1 GB/s: behind a read of a second, so that it is never free meanwhile.
std::vector<Ticks> gaps(DeviceReader& device, std::size_t count) {
  const std::uint32_t long_read = 1'000'000'000;
  device.reserve({&long_read, 1});
  const std::uint32_t bytes = 64;
  std::vector<Ticks> result;
  Ticks previous = device.reserve({&bytes, 1});
  while (result.size() + 1 < count) {
    const Ticks next = device.reserve({&bytes, 1});
    result.push_back(next - previous);
    previous = next;
  }
  return result;
}

TEST(Device, EveryReaderBringsItsPart) {
  const auto device = std::make_shared<Device>(DeviceModel{"part", 1, 1, 2, 64, 12});
  std::vector<std::unique_ptr<DeviceReader>> readers;
  // Alone a read takes it 0.5 us, by its rate.
  for (const double expected_us : {6.0, 3.0, 2.0, 1.5}) {
    readers.push_back(std::make_unique<DeviceReader>(device));
    for (const Ticks gap : gaps(*readers.back(), 20)) {
      EXPECT_NEAR(ticks_to_us(gap), expected_us, 0.01) << readers.size() << " readers";
    }
  }
  while (readers.size() > 1) readers.pop_back();
  EXPECT_NEAR(ticks_to_us(gaps(*readers.back(), 2)[0]), 6.0, 0.01)
      << "a reader that is gone has none";
  const DeviceUse before = device->use();
  readers.back()->reserve(std::vector<std::uint32_t>(100, 64));
  EXPECT_NEAR(device->seconds_since(before), 100 * 6e-6, 1e-8);
}

TEST(Device, IdleReadersHaveNoPart) {
  const auto device = std::make_shared<Device>(DeviceModel{"part", 1, 1, 2, 64, 12});
  DeviceReader first(device), second(device), third(device);
  {
    const IdleReaders idle(device, 2);
    for (const Ticks gap : gaps(first, 20)) EXPECT_NEAR(ticks_to_us(gap), 6.0, 0.01);
  }
  for (const Ticks gap : gaps(first, 20)) EXPECT_NEAR(ticks_to_us(gap), 2.0, 0.01);
  const IdleReaders none(nullptr, 1);
}

TEST(Device, ManyReadersHaveNoMoreThanAllOfIt) {
  const auto device = std::make_shared<Device>(DeviceModel{"part", 1, 1, 2, 64, 2});
  DeviceReader first(device), second(device), third(device);
  for (const Ticks gap : gaps(first, 20)) EXPECT_NEAR(ticks_to_us(gap), 0.5, 0.01);
}

/// What a device is asked for by chains of reads, each of so many short and so many long ones.
struct Chain {
  std::uint32_t shorts = 0;
  std::uint32_t longs = 0;
};

/// When the last of them is there; 0 when there is none.
Ticks post(DeviceReader& device, const Chain& chain) {
  std::vector<std::uint32_t> bytes(chain.shorts, kMostShortBytes);
  bytes.resize(chain.shorts + chain.longs, kLeastLongBytes);
  return bytes.empty() ? 0 : device.reserve(bytes);
}

// Much for an interruption, next to nothing for what a read occupies.
const DeviceModel kInterrupted{"interrupted", 1, 1000, 1000, 64, 0, 0, 1};

TEST(Device, ShortReadsInterruptLongOnesInWhateverOrder) {
  const std::vector<std::vector<Chain>> orders = {
      {{3, 0}, {0, 5}}, {{0, 5}, {3, 0}}, {{3, 5}}, {{1, 2}, {0, 0}, {2, 3}}, {{0, 1}, {3, 4}}};
  for (const auto& chains : orders) {
    const auto device = std::make_shared<Device>(kInterrupted);
    DeviceReader reader(device);
    const DeviceUse before = device->use();
    const Ticks start = now_ticks();
    Ticks last = 0;
    for (const Chain& chain : chains) last = std::max(last, post(reader, chain));
    EXPECT_NEAR(device->seconds_since(before), 3e-6, 1e-7);
    EXPECT_GE(ticks_to_us(last - start), 1 + 3);
  }
}

TEST(Device, ReadsOfOneKindOrInBetweenInterruptNothing) {
  const auto device = std::make_shared<Device>(kInterrupted);
  const DeviceUse before = device->use();
  std::vector<std::uint32_t> bytes(100, kMostShortBytes);
  bytes.resize(200, kMostShortBytes + 1);
  bytes.resize(300, kLeastLongBytes - 1);
  DeviceReader(device).reserve(bytes);
  EXPECT_LT(device->seconds_since(before), 1e-6);
  const DeviceUse later = device->use();
  EXPECT_EQ(later.short_reads, 100u);
  EXPECT_EQ(later.long_reads, 0u);
}

TEST(Device, WhatWasLongAgoInterruptsNothing) {
  DeviceModel model = kInterrupted;
  model.interruption_us = 1e6;  // so that the device is never free
  DeviceReader device(std::make_shared<Device>(model));
  for (int i = 0; i < 1000; ++i) post(device, {100, 0});
  const Ticks start = now_ticks();
  const Ticks interrupted = post(device, {0, 2000});
  const double seconds = ticks_to_us(interrupted - start) / 1e6;
  EXPECT_GE(seconds, 1024) << "by the last of the short ones";
  EXPECT_LT(seconds, 1100);
  EXPECT_LT(ticks_to_us(post(device, {0, 1}) - interrupted), 1e6);
}

TEST(Device, CoresHaveTheirPartOfInterruptions) {
  DeviceModel model = kInterrupted;
  model.cores = 10;
  const auto device = std::make_shared<Device>(model);
  DeviceReader reader(device);
  const DeviceUse before = device->use();
  post(reader, {2, 2});
  EXPECT_NEAR(device->seconds_since(before), 20e-6, 1e-6);
}

TEST(Device, CoresShareTheLink) {
  const auto device = std::make_shared<Device>(DeviceModel{"shared", 1, 1, 1, 64});  // 1 us a read
  constexpr int kCores = 4;
  constexpr int kReads = 2000;
  std::vector<std::vector<Ticks>> ready(kCores, std::vector<Ticks>(kReads));
  const Ticks start = now_ticks();
  std::vector<std::thread> cores;
  for (auto& own : ready) {
    cores.emplace_back([&device, &own] {
      const std::uint32_t bytes = 64;
      DeviceReader reader(device);
      for (Ticks& time : own) time = reader.reserve({&bytes, 1});
    });
  }
  for (auto& core : cores) core.join();
  std::vector<Ticks> all;
  for (const auto& own : ready) {
    EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
    all.insert(all.end(), own.begin(), own.end());
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_GE(all[i] - all[i - 1] + 1, us_to_ticks(1)) << "two reads at once";
  }
  EXPECT_GE(all.back() - start, us_to_ticks(kCores * kReads * 0.999));
}

}  // namespace
}  // namespace farvec::transport
