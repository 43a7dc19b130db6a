// A RecordMemory puts an index's records into memory of this process, and maps other places that
// hold the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/memory.h"
#include "layout/index/index_directory.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::tiers {

using RegionSetPointer = std::shared_ptr<const transport::RegionSet>;

/// A RecordMemory has region 0 in each kind of memory. It is made when a tier first asks for it,
/// and all tiers share it. It is used by one thread at a time. Where it is loaded, what load()
/// throws is thrown.
class RecordMemory {
 public:
  virtual ~RecordMemory() = default;

  /// Returns it in private memory, in huge pages where there are some.
  RegionSetPointer dram();
  /// Returns it in memory that processes can share (a memfd), mapped read-only.
  RegionSetPointer shared();
  /// Returns it in private memory of one NUMA node. Throws Error when the node does not have that
  /// much.
  RegionSetPointer on_node(std::uint32_t node);
  /// Maps what a file holds, read-only. Throws Error when it is something else.
  virtual RegionSetPointer map(const std::string& path) const = 0;
  /// Maps what is on a device that device::DeviceStore divides, read-only, and keeps it there as
  /// long as it is mapped. Throws Error when it is not there.
  virtual RegionSetPointer map_stored(const std::string& path) const = 0;
  /// Returns the directory of the index; null for bare bytes, which are no index.
  virtual const layout::IndexDirectory* directory() const { return nullptr; }
  /// Returns how the rest of the index is loaded.
  virtual layout::LoadOptions load_options() const { return {}; }

 protected:
  /// Returns the bytes of region 0.
  virtual std::uint64_t bytes() const = 0;
  /// Reads region 0 into memory of bytes() bytes, and checks it. Throws Error naming what is wrong.
  virtual void load(std::span<std::byte> memory) const = 0;

 private:
  RegionSetPointer dram_;
  RegionSetPointer shared_;
};

/// IndexRecords are the records of an index directory, which must outlive it.
class IndexRecords final : public RecordMemory {
 public:
  explicit IndexRecords(const layout::IndexDirectory& directory,
                        layout::LoadOptions options = {.quiet = true})
      : directory_(directory), options_(std::move(options)) {}

  RegionSetPointer map(const std::string& path) const override;
  RegionSetPointer map_stored(const std::string& path) const override;
  const layout::IndexDirectory* directory() const override { return &directory_; }
  layout::LoadOptions load_options() const override { return options_; }

 private:
  std::uint64_t bytes() const override;
  void load(std::span<std::byte> memory) const override;

  const layout::IndexDirectory& directory_;
  const layout::LoadOptions options_;
};

/// Returns a set whose one region 0 is this one.
RegionSetPointer region_set(transport::MappedRegion region);

/// Returns a set whose region 0 is this memory, which lives as long as the set.
RegionSetPointer region_set(HugeBuffer memory);

/// Makes region 0 in a memfd: `fill` writes it, then it is mapped read-only. Throws SystemError.
RegionSetPointer make_shared_memory(std::uint64_t bytes,
                                    const std::function<void(std::span<std::byte>)>& fill);

}  // namespace farvec::tiers
