// A file or block device opened for reads that go past the page cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace farvec::disk {

/// A stretch of a file in whole blocks.
struct BlockRange {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t skip = 0;  ///< from the first byte to the one that was asked for
};

/// Read-only; owns the descriptor. Where the file system refuses O_DIRECT, or keeps its files in
/// memory, one warning is logged and reads go through the page cache. Any number of threads may
/// share it.
class DiskFile {
 public:
  /// Throws SystemError when it cannot be opened, Error when it is neither a regular file nor a
  /// block device.
  explicit DiskFile(std::string path);
  ~DiskFile();
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  /// When it was opened.
  std::uint64_t size() const { return size_; }
  /// Whether reads go past the page cache.
  bool direct() const { return direct_; }
  /// Offsets and lengths of reads are multiples of this power of two, also where the page cache
  /// would take any.
  std::uint32_t block_bytes() const { return block_bytes_; }
  /// Destinations lie at multiples of this power of two.
  std::uint32_t memory_alignment() const { return memory_alignment_; }

  /// The shortest read that brings [offset, offset + bytes); bytes > 0.
  BlockRange cover(std::uint64_t offset, std::uint32_t bytes) const;

  /// "PATH (O_DIRECT, blocks of 512 bytes)".
  std::string description() const;

 private:
  void ask_kernel(bool block_device);
  bool probe(std::uint32_t bytes);
  void give_up_direct(const char* why);

  const std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  bool direct_ = true;
  std::uint32_t block_bytes_ = 512;
  std::uint32_t memory_alignment_ = 512;
};

/// What an engine reads; a read names its file by its place here.
using DiskFiles = std::vector<std::shared_ptr<const DiskFile>>;

}  // namespace farvec::disk
