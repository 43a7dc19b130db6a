// A DiskFile is a file or block device opened for reads, and writes, that bypass the page cache.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace farvec::disk {

/// A BlockRange is a part of a file in whole blocks.
struct BlockRange {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t skip = 0;  ///< bytes from the first byte to the one that was asked for
};

enum class DiskAccess : std::uint8_t { read, write };  ///< `write` allows reads too
/// `used` is for modelled disks: requests have the blocks that they would have otherwise.
enum class PageCache : std::uint8_t { bypassed, used };

/// Owns the descriptor. Where the file system refuses O_DIRECT, or keeps its files in
/// memory, one warning is logged and requests go through the page cache. Any number of threads may
/// share it.
class DiskFile {
 public:
  /// Throws SystemError when it cannot be opened, Error when it is neither a regular file nor a
  /// block device.
  explicit DiskFile(std::string path, DiskAccess access = DiskAccess::read,
                    PageCache cache = PageCache::bypassed);
  ~DiskFile();
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  bool writable() const { return access_ == DiskAccess::write; }
  /// Returns the size when it was opened, or after grow().
  // Acquire: pairs with grow(), so that a thread that sees the size finds the blocks.
  std::uint64_t size() const { return size_.load(std::memory_order_acquire); }
  /// Makes a file `bytes` long if it is shorter; its new blocks are on the disk and read as zeros.
  /// resource_exhausted when the disk is full, unavailable for another failure; then the file is
  /// unchanged. Blocks the thread. Only one thread at a time may call it.
  Status grow(std::uint64_t bytes);
  /// Says whether requests bypass the page cache.
  bool direct() const { return direct_; }
  /// Offsets and lengths of requests are multiples of this power of two, even where the page cache
  /// would take any offset.
  std::uint32_t block_bytes() const { return block_bytes_; }
  /// The memory of requests is aligned to this power of two.
  std::uint32_t memory_alignment() const { return memory_alignment_; }

  /// Returns the shortest read that brings [offset, offset + bytes); bytes > 0.
  BlockRange cover(std::uint64_t offset, std::uint32_t bytes) const;

  /// Returns a name for logs: "PATH (O_DIRECT, blocks of 512 bytes)".
  std::string description() const;

 private:
  void ask_kernel(bool block_device);
  bool probe(std::uint32_t bytes);
  void use_page_cache();
  void give_up_direct(const char* why);

  const std::string path_;
  int descriptor_ = -1;
  const DiskAccess access_;
  std::atomic<std::uint64_t> size_ = 0;
  bool direct_ = true;
  std::uint32_t block_bytes_ = 512;
  std::uint32_t memory_alignment_ = 512;
};

/// DiskFiles are the files that an engine reads and writes; a request names its file by its index
/// here.
using DiskFiles = std::vector<std::shared_ptr<const DiskFile>>;

}  // namespace farvec::disk
