#include "tiers/record_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "device/numa_memory.h"
#include "device/stored_index.h"

namespace farvec::tiers {
namespace {

class MemoryFile {
 public:
  explicit MemoryFile(std::uint64_t bytes) : fd_(memfd_create("farvec-tier", MFD_CLOEXEC)) {
    if (fd_ < 0) throw SystemError(errno, "creating shared memory of {} bytes", bytes);
    if (ftruncate(fd_, static_cast<off_t>(bytes)) != 0) {
      const int error = errno;
      close(fd_);
      throw SystemError(error, "sizing shared memory to {} bytes", bytes);
    }
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

RegionSetPointer region_set(transport::MappedRegion region) {
  transport::RegionSet set;
  set.push_back(std::move(region));
  return std::make_shared<const transport::RegionSet>(std::move(set));
}

RegionSetPointer region_set(HugeBuffer memory) {
  struct Held {
    HugeBuffer memory;
    transport::RegionSet regions;
  };
  auto held = std::make_shared<Held>();
  held->memory = std::move(memory);
  held->regions.push_back(transport::MappedRegion::borrow(held->memory.span()));
  return {held, &held->regions};
}

RegionSetPointer make_shared_memory(std::uint64_t bytes,
                                    const std::function<void(std::span<std::byte>)>& fill) {
  const MemoryFile file(bytes);
  {
    auto writable =
        transport::MappedRegion::map_fd(file.fd(), bytes, transport::Access::read_write);
    fill(writable.writable_bytes());
  }
  return region_set(transport::MappedRegion::map_fd(file.fd(), bytes));
}

RegionSetPointer RecordMemory::dram() {
  if (dram_ != nullptr) return dram_;
  HugeBuffer memory(bytes());
  load(memory.span());
  dram_ = region_set(std::move(memory));
  return dram_;
}

RegionSetPointer RecordMemory::shared() {
  if (shared_ != nullptr) return shared_;
  shared_ = make_shared_memory(bytes(), [this](std::span<std::byte> memory) { load(memory); });
  return shared_;
}

RegionSetPointer RecordMemory::on_node(std::uint32_t node) {
  HugeBuffer memory = device::numa_buffer(node, bytes());
  load(memory.span());
  return region_set(std::move(memory));
}

std::uint64_t IndexRecords::bytes() const {
  return directory_.manifest().region(layout::kRecordsRegion).file_bytes();
}

void IndexRecords::load(std::span<std::byte> memory) const {
  directory_.load_region(layout::kRecordsRegion, memory, options_);
}

RegionSetPointer IndexRecords::map(const std::string& path) const {
  auto mapped =
      region_set(transport::MappedRegion::map_file(path, transport::Access::read_only, bytes()));
  directory_.check_header(layout::kRecordsRegion, mapped->front().bytes(), path);
  return mapped;
}

RegionSetPointer IndexRecords::map_stored(const std::string& path) const {
  if (directory_.manifest().memory_nodes() > 1) {
    throw Error(
        "'{}' is placed over {} memory nodes: {} holds a share of one, which is not searched alone",
        directory_.path().string(), directory_.manifest().memory_nodes(), path);
  }
  const auto store = device::open_store(path);
  auto stored = device::StoredIndex::find(store, directory_, 0);
  if (stored == nullptr) {
    throw Error(
        "{} does not hold the index '{}': 'farvec devices load --index {} {}' puts it there", path,
        directory_.path().string(), directory_.path().string(), path);
  }
  struct Held {
    std::shared_ptr<const device::StoredIndex> index;
    transport::RegionSet regions;
  };
  auto held = std::make_shared<Held>();
  held->index = std::move(stored);
  held->regions.push_back(
      transport::MappedRegion::borrow(held->index->region(layout::kRecordsRegion)));
  return {held, &held->regions};
}

}  // namespace farvec::tiers
