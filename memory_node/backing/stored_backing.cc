#include "memory_node/backing/stored_backing.h"

#include <filesystem>
#include <utility>

#include "base/error.h"

namespace farvec::memory_node {
namespace {

class StoredBacking final : public Backing {
 public:
  StoredBacking(std::shared_ptr<const device::StoredIndex> index, std::uint32_t region)
      : Backing(index->region(region)), index_(std::move(index)), region_(region) {}

  std::uint64_t alignment() const override { return index_->store().memory().alignment(); }
  std::string description() const override {
    const device::PersistentMemory& memory = index_->store().memory();
    return fmt::format("{} ({}), offset {}", memory.path(), memory.description(),
                       descriptor_offset());
  }
  /// Clients get descriptors that cannot write; other processes are kept away by the device's own
  /// permissions.
  void seal() override {}
  std::uint64_t descriptor_offset() const override { return index_->extent(region_).offset; }

 private:
  int fd() const override { return index_->store().memory().descriptor(); }

  const std::shared_ptr<const device::StoredIndex> index_;
  const std::uint32_t region_;
};

}  // namespace

std::shared_ptr<device::DeviceStore> open_device(const BackingOptions& options) {
  if (options.path.empty()) {
    throw Error("--backing {} needs --backing-path {}", to_string(options.kind),
                options.kind == BackingKind::devdax ? "/dev/daxX.Y" : "FILE");
  }
  std::error_code ignored;
  const bool device = std::filesystem::is_character_file(options.path, ignored);
  if (std::filesystem::exists(options.path, ignored) &&
      device != (options.kind == BackingKind::devdax)) {
    throw Error("{} is {}: write --backing {}", options.path, device ? "a device" : "no device",
                device ? "devdax" : "pmem");
  }
  return device::open_store(options.path, {.access = device::MemoryAccess::read_write});
}

std::unique_ptr<Backing> stored_backing(std::shared_ptr<const device::StoredIndex> index,
                                        std::uint32_t region) {
  return std::make_unique<StoredBacking>(std::move(index), region);
}

}  // namespace farvec::memory_node
