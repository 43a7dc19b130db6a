// Devdax devices and files through libpmem2.
#pragma once

#include <memory>
#include <string>

#include "device/persistent_memory.h"

namespace farvec::device {

struct PmemOptions {
  MemoryAccess access = MemoryAccess::read_only;
  /// Map also a device that names bad blocks: reading those ends the process.
  bool allow_bad_blocks = false;
};

/// Maps a character device of devdax mode, or a file: on a file system with DAX by cache line, on
/// any other through the page cache, page by page. A file must not be made shorter while it is
/// mapped. Throws Error that says what to do when it is neither, has bad blocks, or cannot be
/// mapped.
std::unique_ptr<PersistentMemory> open_pmem(const std::string& path, const PmemOptions& options);

/// Makes a file of so many bytes for open_pmem(). Throws Error when the path is taken, SystemError
/// when the file system has no room; nothing is left behind then.
void create_pmem_file(const std::string& path, std::uint64_t bytes);

}  // namespace farvec::device
