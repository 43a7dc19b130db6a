#include "disk/disk_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/input_file.h"
#include "base/log.h"

namespace farvec::disk {
namespace {

/// The block sizes that are tried on file systems that do not say theirs.
constexpr std::uint32_t kProbedBlocks[] = {512, 4096};

bool is_block_device(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) throw SystemError(errno, "opening '{}' for reading", path);
  if (!S_ISREG(info.st_mode) && !S_ISBLK(info.st_mode)) {
    throw Error("'{}' is neither a regular file nor a block device", path);
  }
  return S_ISBLK(info.st_mode);
}

/// Some of these take O_DIRECT and ignore it.
bool lies_in_memory(int descriptor) {
  struct statfs info {};
  if (fstatfs(descriptor, &info) != 0) return false;
  return info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC || info.f_type == HUGETLBFS_MAGIC;
}

int open_file_at(const std::string& path, DiskAccess access, int flags) {
  if (access == DiskAccess::read) return open_for_reading(path, flags);
  return open(path.c_str(), O_RDWR | O_CLOEXEC | flags);
}

}  // namespace

DiskFile::DiskFile(std::string path, DiskAccess access, PageCache cache)
    : path_(std::move(path)), access_(access) {
  const bool block_device = is_block_device(path_);
  descriptor_ = open_file_at(path_, access_, O_DIRECT);
  const bool refused = descriptor_ < 0 && errno == EINVAL;
  if (refused) descriptor_ = open_file_at(path_, access_, 0);
  if (descriptor_ < 0) {
    throw SystemError(errno, "opening '{}' for {}", path_, writable() ? "writing" : "reading");
  }
  const off_t end = lseek(descriptor_, 0, SEEK_END);
  if (end < 0) {
    const int error = errno;
    close(descriptor_);
    throw SystemError(error, "asking for the size of '{}'", path_);
  }
  size_ = static_cast<std::uint64_t>(end);
  if (refused) {
    give_up_direct("its file system refuses O_DIRECT");
  } else if (lies_in_memory(descriptor_)) {
    give_up_direct("its file system lies in memory");
  } else {
    ask_kernel(block_device);
  }
  if (cache == PageCache::used && direct_) use_page_cache();
}

void DiskFile::use_page_cache() {
  const int flags = fcntl(descriptor_, F_GETFL);
  if (flags < 0 || fcntl(descriptor_, F_SETFL, flags & ~O_DIRECT) < 0) {
    const int error = errno;
    close(descriptor_);
    throw SystemError(error, "reading '{}' through the page cache", path_);
  }
  direct_ = false;
}

DiskFile::~DiskFile() {
  close(descriptor_);
}

Status DiskFile::grow(std::uint64_t bytes) {
  const std::uint64_t now = size();
  if (bytes <= now) return {};
  if (fallocate(descriptor_, 0, static_cast<off_t>(now), static_cast<off_t>(bytes - now)) != 0) {
    const int error = errno;
    spdlog::warn("'{}' cannot grow to {} bytes: {}", path_, bytes,
                 std::system_category().message(error));
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    if (full) return {StatusCode::resource_exhausted, "the disk has no room for more blocks"};
    return {StatusCode::unavailable, "the file cannot be made longer"};
  }
  size_.store(bytes, std::memory_order_release);  // pairs with size()
  return {};
}

void DiskFile::ask_kernel(bool block_device) {
#ifdef STATX_DIOALIGN
  struct statx info {};
  if (statx(descriptor_, "", AT_EMPTY_PATH, STATX_DIOALIGN, &info) == 0 &&
      (info.stx_mask & STATX_DIOALIGN) != 0) {
    if (!std::has_single_bit(info.stx_dio_offset_align) ||
        !std::has_single_bit(info.stx_dio_mem_align)) {
      return give_up_direct("the kernel has no direct reads for this file");
    }
    block_bytes_ = info.stx_dio_offset_align;
    memory_alignment_ = info.stx_dio_mem_align;
    return;
  }
#endif
  int sector_bytes = 0;
  if (block_device && ioctl(descriptor_, BLKSSZGET, &sector_bytes) == 0 && sector_bytes > 0) {
    block_bytes_ = memory_alignment_ = static_cast<std::uint32_t>(sector_bytes);
    return;
  }
  for (const std::uint32_t bytes : kProbedBlocks) {
    if (probe(bytes)) return;
  }
  give_up_direct("its file system takes no direct reads of 512 or 4096 bytes");
}

/// Whether a read of one block of `bytes` bytes is taken; any answer but EINVAL means yes.
bool DiskFile::probe(std::uint32_t bytes) {
  block_bytes_ = memory_alignment_ = bytes;
  const std::unique_ptr<void, decltype(&std::free)> block(std::aligned_alloc(bytes, bytes),
                                                          &std::free);
  if (block == nullptr) throw Error("no memory for a block of {} bytes", bytes);
  return pread(descriptor_, block.get(), bytes, 0) >= 0 || errno != EINVAL;
}

void DiskFile::give_up_direct(const char* why) {
  direct_ = false;
  block_bytes_ = memory_alignment_ = kProbedBlocks[0];
  if (const int flags = fcntl(descriptor_, F_GETFL); flags >= 0) {
    (void)fcntl(descriptor_, F_SETFL, flags & ~O_DIRECT);
  }
  spdlog::warn("'{}': {}; requests go through the page cache and their rates are not a disk's",
               path_, why);
}

BlockRange DiskFile::cover(std::uint64_t offset, std::uint32_t bytes) const {
  const std::uint64_t mask = block_bytes_ - 1;
  const std::uint64_t begin = offset & ~mask;
  const std::uint64_t end = (offset + bytes + mask) & ~mask;
  return {begin, static_cast<std::uint32_t>(end - begin),
          static_cast<std::uint32_t>(offset - begin)};
}

std::string DiskFile::description() const {
  return fmt::format("{} ({}, blocks of {} bytes)", path_, direct_ ? "O_DIRECT" : "page cache",
                     block_bytes_);
}

}  // namespace farvec::disk
