// A log on memories that tests kill, tear and start again.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/unit/wal/log_fixture.h"
#include "wal/log_reader.h"
#include "wal/region_log.h"
#include "wal/region_source.h"

namespace farvec::wal::tests {

inline constexpr std::uint64_t kLogId = 77;
inline constexpr std::size_t kRegionBytes = (std::size_t{17} << 20) + 5;  // 8 slots

/// A memory node's, of which the process that writes may die between any two bytes.
struct Region {
  std::mutex mutex;
  std::vector<std::byte> bytes = std::vector<std::byte>(kRegionBytes);
  std::atomic<bool> dead = false;
};

/// What one process may still do.
struct Life {
  std::atomic<std::int64_t> writes{1 << 30};
};

class SharedMemory final : public LogMemory {
 public:
  SharedMemory(std::shared_ptr<Region> region, std::shared_ptr<Life> life, std::string name)
      : region_(std::move(region)), life_(std::move(life)), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  std::uint64_t bytes() const override { return region_->bytes.size(); }
  void read(std::uint64_t offset, std::span<std::byte> to) override {
    const std::lock_guard lock(region_->mutex);
    if (region_->dead) throw Error("{} is dead", name_);
    ASSERT_LE(offset + to.size(), region_->bytes.size());
    std::memcpy(to.data(), region_->bytes.data() + offset, to.size());
  }
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(region_->mutex);
    if (region_->dead) throw Error("{} is dead", name_);
    ASSERT_LE(offset + bytes.size(), region_->bytes.size());
    const std::int64_t left = life_->writes.fetch_sub(1);
    // The last write of a life is torn, but for words.
    const std::size_t part = left > 1 ? bytes.size() : left == 1 ? bytes.size() / 16 * 8 : 0;
    std::memcpy(region_->bytes.data() + offset, bytes.data(), part);
    if (left <= 1) throw Error("the writer was killed");
  }
  void flush() override {
    if (region_->dead || life_->writes <= 0) throw Error("{} is dead", name_);
  }

 private:
  const std::shared_ptr<Region> region_;
  const std::shared_ptr<Life> life_;
  const std::string name_;
};

struct RegionLogTest : testing::Test {
  std::vector<std::shared_ptr<Region>> regions;
  std::uint32_t epoch = 0;

  explicit RegionLogTest(std::size_t copies = 3) {
    for (std::size_t i = 0; i < copies; ++i) regions.push_back(std::make_shared<Region>());
  }

  LogMemories memories(const std::shared_ptr<Life>& life = std::make_shared<Life>(),
                       std::optional<std::size_t> away = {}) const {
    LogMemories memories;
    for (std::size_t i = 0; i < regions.size(); ++i) {
      memories.push_back(away == i ? nullptr
                                   : std::make_shared<SharedMemory>(regions[i], life,
                                                                    "memory " + std::to_string(i)));
    }
    return memories;
  }
  RegionWriters writers(LogMemories memories) {
    return {std::move(memories), static_cast<std::uint16_t>(regions.size() / 2 + 1), ++epoch};
  }
  std::unique_ptr<Log> create() { return create_region_log(writers(memories()), {kLogId}, {}); }
  std::unique_ptr<Log> open(LogMemories memories, LogReach reach = nullptr) {
    RegionWriters all = writers(std::move(memories));
    all.reach = std::move(reach);
    return open_region_log(all, recover_region_log(all, {kLogId}), {});
  }
  /// Of regions that are not dead, for who may do what is left of `life`.
  LogReach reach(const std::shared_ptr<Life>& life = std::make_shared<Life>()) const {
    return [this, life](std::size_t copy, const std::atomic<bool>&) {
      auto memory = memories(life)[copy];
      (void)read_region_header(*memory);  // throws
      return memory;
    };
  }
  /// In place of one that has died; its process was started again.
  void start_again(std::size_t copy) {
    const std::lock_guard lock(regions[copy]->mutex);
    std::fill(regions[copy]->bytes.begin(), regions[copy]->bytes.end(), std::byte{0});
    regions[copy]->dead = false;
  }
  void kill(std::size_t copy) {
    const std::lock_guard lock(regions[copy]->mutex);
    regions[copy]->dead = true;
  }
  static bool comes_to(const Log& log, std::uint32_t there) {
    for (int look = 0; look < 6000 && log.copies().there != there; ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return log.copies() == LogCopies{log.copies().wanted, there};
  }
  std::shared_ptr<RegionSource> source() const {
    return RegionSource::make(memories(), kLogId, RegionSource::Quorum::asked);
  }
  std::vector<Bytes> read(std::shared_ptr<LogSource> from) const {
    const Position begin = from->segments().front().header.first;
    LogReader reader(std::move(from), begin);
    std::vector<Bytes> read;
    while (const auto record = reader.next()) {
      read.emplace_back(record->bytes.begin(), record->bytes.end());
    }
    return read;
  }
  /// Acknowledged ones.
  static std::vector<Bytes> write(Log& log, std::uint64_t first, int count,
                                  std::size_t size = 100) {
    std::vector<Bytes> done;
    for (int i = 0; i < count; ++i) {
      Bytes record = record_of(first + static_cast<std::uint64_t>(i), size);
      const auto end = append(log, record);
      if (!end.ok() || !log.wait(end.value(), in_seconds(30)).ok()) break;
      done.push_back(std::move(record));
    }
    return done;
  }
  std::uint32_t epoch_of(std::size_t copy) const {
    return layout::decode_log_region(
               std::span(regions[copy]->bytes).first(sizeof(layout::LogRegionHeader)))
        .value()
        .epoch;
  }
  /// Where a record's bytes lie in a copy.
  std::size_t find(std::size_t copy, const Bytes& record) const {
    const auto& bytes = regions[copy]->bytes;
    const auto found = std::search(bytes.begin(), bytes.end(), record.begin(), record.end());
    EXPECT_NE(found, bytes.end());
    return static_cast<std::size_t>(found - bytes.begin());
  }
};

}  // namespace farvec::wal::tests
