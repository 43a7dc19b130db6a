// CheckedRecords are a region's file whose chunks are compared with their checksums when they are
// first needed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/input_file.h"
#include "base/memory.h"
#include "base/status.h"
#include "layout/index/index_directory.h"

namespace farvec::collection {

/// Threads share it, except for load(). All functions throw Error naming the file.
class CheckedRecords {
 public:
  /// Opens the records of an index, or another of its regions. The directory is borrowed.
  explicit CheckedRecords(const layout::IndexDirectory& directory,
                          std::uint32_t region = layout::kRecordsRegion);

  std::string path() const { return file_.path(); }

  /// A Loading is the region as far as it has been read.
  struct Loading {
    HugeBuffer region;
    std::size_t chunks = 0;
  };
  /// Reads on until the region is whole, and returns ok. deadline_exceeded: the next call goes on
  /// from there.
  Status load(Loading& loading, Ticks deadline) const;
  /// Reads bytes from `offset` of the region on, counted after its header.
  Status read(std::uint64_t offset, std::span<std::byte> out, Ticks deadline) const;

 private:
  void check(std::uint64_t chunk, std::span<std::byte> bytes) const;
  std::uint64_t bytes_of_chunk(std::uint64_t chunk) const;

  const layout::RegionEntry& entry_;
  const InputFile file_;
  /// Relaxed: a chunk that two threads check at once is checked twice.
  mutable std::vector<std::atomic<bool>> checked_;
};

}  // namespace farvec::collection
