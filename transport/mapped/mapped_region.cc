#include "transport/mapped/mapped_region.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/memory.h"

namespace farvec::transport {

struct MappedRegion::Source {
  int fd = -1;
  std::string name;  ///< name for messages
  std::uint64_t bytes = 0;
  std::uint64_t page_bytes = 1;  ///< the length of a mapping is a multiple of it
  bool is_devdax = false;
};

namespace {

std::uint64_t read_sysfs(const struct stat& status, const char* attribute) {
  const std::string path = fmt::format("/sys/dev/char/{}:{}/{}", major(status.st_rdev),
                                       minor(status.st_rdev), attribute);
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (!(file >> value) || value == 0) {
    throw Error("cannot read {}: a character device must be devdax (/dev/daxX.Y) to be mapped",
                path);
  }
  return value;
}

std::uint64_t page_bytes_of(int fd) {
  struct statfs fs {};
  if (fstatfs(fd, &fs) == 0 && fs.f_type == HUGETLBFS_MAGIC) {
    return static_cast<std::uint64_t>(fs.f_bsize);
  }
  return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void* map_pages(const auto& source, std::uint64_t begin, std::uint64_t length, int protection) {
  const auto at = static_cast<off_t>(begin);
  if (source.is_devdax) {
    void* synced = mmap(nullptr, length, protection, MAP_SHARED_VALIDATE | MAP_SYNC, source.fd, at);
    if (synced != MAP_FAILED) return synced;
  }
  return mmap(nullptr, length, protection, MAP_SHARED, source.fd, at);
}

auto examine(auto source) {
  struct stat status {};
  if (fstat(source.fd, &status) != 0) throw SystemError(errno, "cannot examine {}", source.name);
  if (S_ISCHR(status.st_mode)) {
    source.is_devdax = true;
    source.bytes = read_sysfs(status, "size");
    source.page_bytes = read_sysfs(status, "align");
  } else if (S_ISREG(status.st_mode)) {
    source.bytes = static_cast<std::uint64_t>(status.st_size);
    source.page_bytes = page_bytes_of(source.fd);
  } else {
    throw Error("cannot map {}: it is neither a file nor a devdax device", source.name);
  }
  return source;
}

}  // namespace

MappedRegion MappedRegion::map(const Source& found, std::uint64_t offset, std::uint64_t bytes,
                               Access access) {
  const Source source = examine(found);
  if (source.bytes == 0) throw Error("cannot map {}: it is empty", source.name);
  if (offset >= source.bytes || bytes > source.bytes - offset) {
    throw Error("{} has {} bytes, but the region needs {}: it was truncated, or is another index's",
                source.name, source.bytes, offset + bytes);
  }
  MappedRegion region;
  region.access_ = access;
  region.bytes_ = bytes == 0 ? source.bytes - offset : bytes;
  region.skipped_bytes_ = offset % source.page_bytes;
  const std::uint64_t length = round_up(region.skipped_bytes_ + region.bytes_, source.page_bytes);
  const int protection = access == Access::read_write ? PROT_READ | PROT_WRITE : PROT_READ;
  void* data = map_pages(source, offset - region.skipped_bytes_, length, protection);
  if (data == MAP_FAILED) {
    throw SystemError(errno, "cannot map {} bytes of {}{}", length, source.name,
                      access == Access::read_write ? " for writing" : "");
  }
  region.data_ = static_cast<std::byte*>(data) + region.skipped_bytes_;
  region.mapped_bytes_ = length;
  madvise(data, length, MADV_HUGEPAGE);  // advice only: file systems without huge pages refuse it
  return region;
}

MappedRegion MappedRegion::map_fd(int fd, std::uint64_t bytes, Access access,
                                  std::uint64_t offset) {
  return map({.fd = fd, .name = fmt::format("descriptor {}", fd)}, offset, bytes, access);
}

MappedRegion MappedRegion::map_file(const std::string& path, Access access, std::uint64_t bytes) {
  // Non-blocking, because open() of a FIFO without a writer would wait for ever.
  const int mode = access == Access::read_write ? O_RDWR : O_RDONLY;
  const int fd = open(path.c_str(), mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) throw SystemError(errno, "cannot open {}", path);
  struct Closer {
    int fd;
    ~Closer() { close(fd); }
  } closer{fd};
  return map({.fd = fd, .name = path}, 0, bytes, access);
}

MappedRegion MappedRegion::borrow(std::span<const std::byte> memory) {
  MappedRegion region;
  // It is never written: writable_bytes() refuses a read-only region.
  region.data_ = const_cast<std::byte*>(memory.data());
  region.bytes_ = memory.size();
  return region;
}

MappedRegion::~MappedRegion() {
  if (mapped_bytes_ > 0) munmap(data_ - skipped_bytes_, mapped_bytes_);
}

MappedRegion::MappedRegion(MappedRegion&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      skipped_bytes_(other.skipped_bytes_),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
      access_(other.access_) {}

MappedRegion& MappedRegion::operator=(MappedRegion&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(skipped_bytes_, other.skipped_bytes_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(access_, other.access_);
  return *this;
}

std::span<std::byte> MappedRegion::writable_bytes() {
  FARVEC_CHECK(access_ == Access::read_write, "the region is mapped read-only");
  return {data_, bytes_};
}

}  // namespace farvec::transport
