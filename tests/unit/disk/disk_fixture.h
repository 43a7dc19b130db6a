// Files of random bytes on a disk, and engines that read them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "disk/disk_engine.h"
#include "disk/faulty_queue.h"
#include "disk/uring_queue.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::disk {

inline constexpr std::uint32_t kBlock = 4096;  // a multiple of every device's blocks here
inline constexpr double kLongUs = 60e6;

inline Ticks in_us(double us) {
  return now_ticks() + us_to_ticks(us);
}

inline std::string write_random(const std::string& path, std::size_t bytes,
                                std::uint64_t seed = 1) {
  Random random(seed);
  std::string content(bytes, '\0');
  for (char& c : content) c = static_cast<char>(random.next());
  std::ofstream(path, std::ios::binary) << content;
  return content;
}

inline DiskFiles open_files(const std::vector<std::string>& paths) {
  DiskFiles files;
  for (const auto& path : paths) files.push_back(std::make_shared<DiskFile>(path));
  return files;
}

/// Polls until so many completions have come; a disk takes its time.
inline std::vector<DiskCompletion> await(DiskEngine& engine, std::size_t count) {
  std::vector<DiskCompletion> found;
  DiskCompletion some[8];
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (found.size() < count && std::chrono::steady_clock::now() < end) {
    const std::size_t polled = engine.poll({some, std::min(std::size(some), count - found.size())});
    found.insert(found.end(), some, some + polled);
    if (polled == 0) std::this_thread::yield();
  }
  EXPECT_EQ(found.size(), count);
  return found;
}

inline std::string text(const std::byte* bytes, std::size_t count) {
  return {reinterpret_cast<const char*>(bytes), count};
}

/// A file of random bytes, an engine with 16 reads at a time, memory for them.
class DiskTest : public testing::Test {
 protected:
  void make_file(std::size_t bytes) { content_ = write_random(path(), bytes); }
  std::string path() const { return folder_.file("blocks"); }

  std::unique_ptr<DiskEngine> open(UringOptions options = {.capacity = 16}) {
    return std::make_unique<DiskEngine>(
        std::make_unique<UringQueue>(open_files({path()}), options));
  }

  /// faulty_ is the queue of the engine that this returns.
  std::unique_ptr<DiskEngine> open_faulty(DiskFaults faults, double close_patience_us = kLongUs) {
    auto queue = std::make_unique<FaultyQueue>(
        std::make_unique<UringQueue>(open_files({path()}), UringOptions{.capacity = 16}),
        std::move(faults));
    faulty_ = queue.get();
    return std::make_unique<DiskEngine>(std::move(queue), DiskEngineOptions{close_patience_us});
  }

  /// Into the i-th stretch of memory_.
  DiskRequest read(std::uint64_t token, std::uint64_t offset, std::uint32_t bytes = kBlock) {
    return {.token = token,
            .offset = offset,
            .memory = destination(token),
            .deadline = in_us(kLongUs),
            .bytes = bytes};
  }
  std::byte* destination(std::uint64_t token) { return memory_.data() + token * kStretch; }

  static constexpr std::size_t kStretch = 16 * kBlock;
  tests::TemporaryFolder folder_;
  std::string content_;
  HugeBuffer memory_{64 * kStretch};
  FaultyQueue* faulty_ = nullptr;
};

}  // namespace farvec::disk
