#include "device/pmem_memory.h"

#include <fcntl.h>
#include <libpmem2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/descriptor.h"
#include "base/error.h"

namespace farvec::device {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;

/// libpmem2's objects are freed by functions that take a pointer to the pointer.
template <typename T, auto Free>
struct Owned {
  T* pointer = nullptr;
  Owned() = default;
  ~Owned() {
    if (pointer != nullptr) (void)Free(&pointer);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
};
using Source = Owned<pmem2_source, pmem2_source_delete>;
using Config = Owned<pmem2_config, pmem2_config_delete>;
/// libpmem2 unmaps first and forgets the range later. In between another thread may be given the
/// range, and is refused (EEXIST) because the old mapping is still known.
std::mutex mapping;
int unmap(pmem2_map** map) {
  const std::lock_guard lock(mapping);
  return pmem2_map_delete(map);
}
using Map = Owned<pmem2_map, unmap>;
using BadBlocks = Owned<pmem2_badblock_context, pmem2_badblock_context_delete>;

/// Throws when a call of libpmem2 failed. The library's message may be that of an earlier call, but
/// the result is not: it is an errno, or one of the library's own numbers.
void require(int result, const std::string& path, const char* what) {
  if (result >= 0) return;
  if (result > PMEM2_E_UNKNOWN) {
    throw SystemError(-result, "{} {}: {}", what, path, pmem2_errormsg());
  }
  throw Error("{} {}: {} (libpmem2: {})", what, path, pmem2_errormsg(), result);
}

Descriptor open_plain(const std::string& path, MemoryAccess access) {
  const int flags = access == MemoryAccess::read_write ? O_RDWR : O_RDONLY;
  struct stat info {};
  // Checked by its name first, because opening a device of another kind may have effects.
  if (stat(path.c_str(), &info) != 0) throw SystemError(errno, "opening {}", path);
  if (!S_ISREG(info.st_mode) && !S_ISCHR(info.st_mode)) {
    throw Error(
        "{} is {}, neither a devdax device nor a file: 'ndctl create-namespace -m devdax' makes "
        "/dev/daxX.Y of a region, 'farvec devices list' names what is there",
        path,
        S_ISDIR(info.st_mode)   ? "a directory"
        : S_ISBLK(info.st_mode) ? "a block device"
                                : "a special file");
  }
  Descriptor file(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) throw SystemError(errno, "opening {}", path);
  return file;
}

bool is_character_device(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 && S_ISCHR(info.st_mode);
}

/// The error names the first bad block's offset. Kinds of memory that do not know bad blocks have
/// none.
void require_no_bad_blocks(const pmem2_source* source, const std::string& path) {
  BadBlocks blocks;
  if (pmem2_badblock_context_new(&blocks.pointer, source) < 0) return;
  pmem2_badblock block{};
  if (pmem2_badblock_next(blocks.pointer, &block) != 0) return;
  throw Error(
      "{} has bad blocks, the first of {} bytes at offset {}: reading them would end the process. "
      "'ndctl list --media-errors' names them, 'ndctl clear-errors' frees them; "
      "--allow-bad-blocks maps it all the same",
      path, block.length, block.offset);
}

std::uint64_t count_unsafe_shutdowns(const pmem2_source* source) {
  std::uint64_t count = 0;
  return pmem2_source_device_usc(source, &count) == 0 ? count : 0;
}

class PmemMemory final : public PersistentMemory {
 public:
  PmemMemory(const std::string& path, const PmemOptions& options)
      : path_(path), file_(open_plain(path, options.access)) {
    require(pmem2_source_from_fd(&source_.pointer, file_.get()), path, "taking");
    if (!options.allow_bad_blocks) require_no_bad_blocks(source_.pointer, path);
    map(options.access);
    granularity_ = pmem2_map_get_store_granularity(map_.pointer);
    persist_ = pmem2_get_persist_fn(map_.pointer);
    copy_ = pmem2_get_memcpy_fn(map_.pointer);
    unsafe_shutdowns_ = count_unsafe_shutdowns(source_.pointer);
  }

  std::span<std::byte> bytes() const override {
    return {static_cast<std::byte*>(pmem2_map_get_address(map_.pointer)),
            pmem2_map_get_size(map_.pointer)};
  }

  void copy(std::uint64_t offset, std::span<const std::byte> from) override {
    std::byte* const to = bytes().data() + offset;
    if (by_page()) {
      std::memcpy(to, from.data(), from.size());
    } else {
      copy_(to, from.data(), from.size(), PMEM2_F_MEM_NONTEMPORAL | PMEM2_F_MEM_NODRAIN);
    }
  }

  void persist(std::uint64_t offset, std::uint64_t bytes) override {
    std::byte* const first = this->bytes().data() + offset;
    if (by_page()) {
      sync_pages(first, bytes);
      return;
    }
    persist_(first, bytes);
    // After this, bytes that the memory controller still holds reach the media even when its
    // batteries fail. Not every device can be asked for it.
    (void)pmem2_deep_flush(map_.pointer, first, bytes);
  }

  const std::string& path() const override { return path_; }
  std::string description() const override {
    const char* kind = is_character_device(file_.get()) ? "devdax" : "file";
    const char* unit = by_page() ? "page, through the page cache" : "cache line";
    return fmt::format("{}, durable by {}", kind, unit);
  }
  std::uint64_t alignment() const override {
    std::size_t alignment = 0;
    return pmem2_source_alignment(source_.pointer, &alignment) == 0 ? alignment : page_bytes();
  }
  std::uint64_t unsafe_shutdowns() const override { return unsafe_shutdowns_; }
  int descriptor() const override { return file_.get(); }

 private:
  static std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }
  bool by_page() const { return granularity_ == PMEM2_GRANULARITY_PAGE; }

  void map(MemoryAccess access) {
    Config config;
    require(pmem2_config_new(&config.pointer), path_, "mapping");
    const unsigned protection =
        PMEM2_PROT_READ | (access == MemoryAccess::read_write ? PMEM2_PROT_WRITE : 0u);
    require(pmem2_config_set_required_store_granularity(config.pointer, PMEM2_GRANULARITY_PAGE),
            path_, "mapping");
    require(pmem2_config_set_protection(config.pointer, protection), path_, "mapping");
    const std::lock_guard lock(mapping);
    require(pmem2_map_new(&map_.pointer, config.pointer, source_.pointer), path_, "mapping");
  }

  /// libpmem2 ends the process when writing back fails, which must not happen for a disk that is
  /// full or broken.
  void sync_pages(std::byte* first, std::uint64_t bytes) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(first) / page_bytes() * page_bytes();
    const auto end = reinterpret_cast<std::uintptr_t>(first) + bytes;
    if (msync(reinterpret_cast<void*>(begin), end - begin, MS_SYNC) != 0) {
      throw SystemError(errno, "writing {} bytes of {} back", bytes, path_);
    }
  }

  const std::string path_;
  const Descriptor file_;
  Source source_;
  Map map_;
  pmem2_granularity granularity_ = PMEM2_GRANULARITY_PAGE;
  pmem2_persist_fn persist_ = nullptr;
  pmem2_memcpy_fn copy_ = nullptr;
  std::uint64_t unsafe_shutdowns_ = 0;
};

}  // namespace

std::unique_ptr<PersistentMemory> open_pmem(const std::string& path, const PmemOptions& options) {
  return std::make_unique<PmemMemory>(path, options);
}

void create_pmem_file(const std::string& path, std::uint64_t bytes) {
  const Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly));
  if (!file.valid()) throw SystemError(errno, "making {}", path);
  const int error = posix_fallocate(file.get(), 0, static_cast<off_t>(bytes));
  if (error == 0 && fsync(file.get()) == 0) return;
  const int reason = error != 0 ? error : errno;
  unlink(path.c_str());
  throw SystemError(reason, "reserving {} bytes for {}", bytes, path);
}

}  // namespace farvec::device
