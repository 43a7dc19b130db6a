// Opens devdax devices and files as persistent memory, through libpmem2.
#pragma once

#include <memory>
#include <string>

#include "device/persistent_memory.h"

namespace farvec::device {

struct PmemOptions {
  MemoryAccess access = MemoryAccess::read_only;
  /// Also maps a device that reports bad blocks: reading those ends the process.
  bool allow_bad_blocks = false;
};

/// Maps a character device in devdax mode, or a file. A file on a file system with DAX is durable
/// by cache line, on any other through the page cache, page by page. A file must not be made
/// shorter while it is mapped. Throws Error that says what to do when the path is neither, has bad
/// blocks, or cannot be mapped.
std::unique_ptr<PersistentMemory> open_pmem(const std::string& path, const PmemOptions& options);

/// Makes a file of `bytes` bytes for open_pmem(). Throws Error when the path is taken, SystemError
/// when the file system has no room; then nothing stays.
void create_pmem_file(const std::string& path, std::uint64_t bytes);

}  // namespace farvec::device
