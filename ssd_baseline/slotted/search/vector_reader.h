// A VectorReader reads stored vectors from the disk, for a last ranking of a search's results by
// exact distance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "base/types.h"
#include "coroutines/scheduler.h"
#include "disk/load_queue.h"
#include "layout/region/region_bytes.h"
#include "ssd_baseline/slotted/pool/read_buffers.h"

namespace farvec::slotted {

/// The place of the vectors: vector v is at offset + v * vector_bytes of one of the engine's files.
struct VectorFile {
  std::uint32_t file = 1;
  std::uint64_t offset = layout::kRegionHeaderBytes;
  std::uint32_t vector_bytes = 0;
};

/// What one search has read from the disk.
struct VectorReads {
  std::uint32_t reads = 0;
  std::uint64_t bytes = 0;  ///< whole blocks
};

/// Owns one core's buffers for vectors, which its fibers share. No fiber waits for a buffer while
/// it holds one, so any number of them works. Vectors have no checksum of their own: the bytes that
/// the disk brings are trusted, like those of records without checksums. The queue must outlive the
/// reader, and is closed by its destructor.
class VectorReader {
 public:
  /// `buffers` is how many reads may be under way. They use `memory`, whose buffers have
  /// buffer_bytes() each and are also other indexes' of the thread; null: buffers of its own.
  /// Throws Error when the file's blocks are larger than kLargestBlock.
  VectorReader(disk::LoadQueue& queue, coroutines::Scheduler& scheduler, const VectorFile& file,
               std::uint32_t buffers, std::shared_ptr<ReadBuffers> memory = nullptr);
  ~VectorReader();
  VectorReader(const VectorReader&) = delete;
  VectorReader& operator=(const VectorReader&) = delete;

  static constexpr std::uint32_t kLargestBlock = 4096;
  /// Returns the bytes that a vector takes with the blocks around it, at most.
  static constexpr std::size_t buffer_bytes(std::uint32_t vector_bytes) {
    return round_up(std::size_t{vector_bytes} + kLargestBlock - 1, kLargestBlock);
  }

  ReadBuffers& memory() { return *memory_; }
  /// Returns its own bytes, and its part of buffers that it shares.
  std::size_t dram_bytes() const { return share_of(memory_) + count_ * sizeof(Read); }
  /// Counts the reads whose buffers are not free: those of searches, and late ones.
  std::uint32_t under_way() const;

  /// Must be called inside a fiber. Calls visit(id, vector) once for each of `ids`, which ascend
  /// without repetition. The vector is valid during its call only and may have any alignment, and
  /// visit must not suspend. All reads are started together, as far as there are buffers; vectors
  /// in the same or adjoining blocks share one. Suspends until they have come. The first error ends
  /// it: deadline_exceeded, or the disk's error.
  template <typename Visit>
  Status read(std::span<const NodeId> ids, Ticks deadline, VectorReads& counts, Visit&& visit);

 private:
  /// A Read has a buffer while it is not free.
  struct Read {
    disk::Load load;
    std::span<const NodeId> ids;  ///< the vectors that it brings
    Read* next = nullptr;
  };

  const disk::DiskFile& disk_file() const { return *queue_.engine().files()[file_.file]; }
  std::uint64_t offset_of(NodeId id) const {
    return file_.offset + std::uint64_t{id} * file_.vector_bytes;
  }
  const std::byte* vector(const Read& read, NodeId id) const {
    return read.load.read.memory + (offset_of(id) - read.load.read.offset);
  }
  Read* plan(std::span<const NodeId> ids, Ticks deadline);
  bool extend(Read& read, const disk::BlockRange& range) const;
  Read* take_free();
  void put_back(Read& read);
  Status start(Read* first, VectorReads& counts);
  Status check(const Read& read) const;
  Read* release(Read& read);

  disk::LoadQueue& queue_;
  coroutines::Scheduler& scheduler_;
  const VectorFile file_;
  const std::uint32_t count_;
  const std::size_t stretch_;  ///< the part of the memory that each read has
  const std::shared_ptr<ReadBuffers> memory_;
  std::unique_ptr<Read[]> reads_;
  Read* free_ = nullptr;
  Read* late_ = nullptr;  ///< reads that their searches gave up while the disk had their buffers
  std::vector<disk::Load*> starting_;  ///< scratch of start()
};

template <typename Visit>
Status VectorReader::read(std::span<const NodeId> ids, Ticks deadline, VectorReads& counts,
                          Visit&& visit) {
  Status status;
  while (status.ok() && !ids.empty()) {
    Read* read = plan(ids, deadline);
    if (read == nullptr) {
      if (now_ticks() > deadline) {
        return {StatusCode::deadline_exceeded, "the deadline passed before a buffer was free"};
      }
      scheduler_.yield();
      continue;
    }
    status = start(read, counts);
    const bool started = status.ok();
    // Also after an error: a buffer is free when its read has come back.
    for (; read != nullptr; read = release(*read)) {
      const Status came = started ? queue_.wait(read->load, deadline) : status;
      if (status.ok()) status = came.ok() ? check(*read) : came;
      for (std::uint32_t i = 0; i < read->ids.size() && status.ok(); ++i) {
        visit(read->ids[i], vector(*read, read->ids[i]));
      }
      ids = ids.subspan(read->ids.size());
    }
  }
  return status;
}

}  // namespace farvec::slotted
