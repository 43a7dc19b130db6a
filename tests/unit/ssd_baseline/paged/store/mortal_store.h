// A store on a disk and a log that lose their power at one moment.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <memory>

#include "disk/faulty_queue.h"
#include "disk/power_cut.h"
#include "disk/uring_queue.h"
#include "ssd_baseline/paged/store/store_parts.h"
#include "tests/unit/wal/simulated_disk.h"
#include "wal/segment_log.h"

namespace farvec::paged {

/// Power cuts by the hundred: in memory where it can be, as a real disk's syncs take longer than
/// everything else.
inline std::filesystem::path memory_folder() {
  return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path();
}

/// Seeds of a test of power cuts, each with kLives cuts; a sanitizer is ten times as slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t kPowerCutSeeds = 4;
#else
inline constexpr std::uint64_t kPowerCutSeeds = 25;
#endif
inline constexpr int kLives = 4;

/// After how many changes the power goes at the latest; of every eighth life never: the power goes
/// as it is closed, or not at all.
inline std::size_t last_change(Random& random, std::size_t most) {
  return random.below(8) == 0 ? ~std::size_t{0} : 1 + random.below(most);
}

class ReadBack final : public RecordSource {
 public:
  ReadBack(const std::filesystem::path& folder, wal::Position from) : reader_(folder, from) {}
  std::optional<wal::LogRecord> next() override { return reader_.next(); }
  std::uint64_t torn_bytes() const override { return reader_.torn_bytes(); }

 private:
  wal::LogReader reader_;
};

class MortalParts final : public StoreParts {
 public:
  MortalParts(const std::filesystem::path& folder, std::uint64_t seed)
      : power(std::make_shared<disk::PowerCut>(seed)), log_disk(folder / "log"), random_(seed) {}

  std::unique_ptr<wal::Log> create_log(const wal::LogOptions& options) override {
    std::filesystem::create_directories(options.folder);
    return wal::create_log(options, log_disk.folder());
  }
  std::unique_ptr<wal::Log> open_log(const wal::LogOptions& options) override {
    return wal::open_log(options, log_disk.folder());
  }
  std::unique_ptr<RecordSource> read_log(const std::filesystem::path& folder,
                                         wal::Position from) override {
    return std::make_unique<ReadBack>(folder, from);
  }
  std::unique_ptr<disk::BlockQueue> open_queue(disk::DiskFiles files, std::uint32_t capacity,
                                               disk::DiskThread thread) override {
    const disk::UringOptions options{.capacity = capacity,
                                     .plain = thread == disk::DiskThread::any};
    auto ring = std::make_unique<disk::UringQueue>(std::move(files), options);
    auto faulty = std::make_unique<disk::FaultyQueue>(std::move(ring), faults);
    return std::make_unique<disk::PowerCutQueue>(std::move(faulty), power);
  }
  Status grow(disk::DiskFile& file, std::uint64_t bytes) override {
    if (bytes > room_bytes) return {StatusCode::resource_exhausted, "the disk is full"};
    return file.grow(bytes);
  }

  /// After so many operations of either. Called while no store is open.
  void cut_after(std::uint64_t page_requests, std::uint64_t log_operations) {
    power->cut_after(page_requests);
    log_disk.faults.power_cut_at = log_disk.operations() + log_operations;
  }
  /// At once; by any thread.
  void cut() {
    power->cut();
    log_disk.cut();
  }
  /// When either has lost its power, the other one loses it too.
  bool off() {
    if (!power->off() && !log_disk.off()) return false;
    cut();
    return true;
  }
  void power_on() {
    power->lose_unsynced();
    log_disk.power_cycle(random_);
  }

  std::shared_ptr<disk::PowerCut> power;
  wal::tests::SimulatedDisk log_disk;
  disk::DiskFaults faults;
  std::uint64_t room_bytes = ~0ull;

 private:
  Random random_;
};

}  // namespace farvec::paged
