// A RegionTable is what a memory node serves: the regions of one index, published.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "layout/index/index_directory.h"
#include "memory_node/backing/backing.h"
#include "memory_node/backing/memory_info.h"
#include "memory_node/backing/stored_backing.h"
#include "memory_node/held_file.h"

namespace farvec::memory_node {

struct Region {
  std::uint32_t id = 0;
  std::string kind;  ///< the layout's word: "records.csr", "codes"
  std::uint64_t bytes = 0;
  std::unique_ptr<Backing> backing;
};

/// A RegionTable is immutable once loaded, and shared by all threads.
struct RegionTable {
  std::vector<Region> regions;  ///< in the order of their ids
  std::string manifest_json;
  std::uint32_t node = 0;        ///< this node's number in the manifest's placement
  std::uint64_t generation = 0;  ///< random; differs between two publications
  double load_seconds = 0;
  /// The place where the regions are stored; null: in memory that ends with this table.
  std::shared_ptr<const device::StoredIndex> stored;
  /// The index was on the device already; its payload was not read.
  bool attached = false;
  std::map<FileKind, std::uint64_t> file_checksums;  ///< those of LoadRequest::beside

  std::uint64_t total_bytes() const;
  /// Returns the checksum of the file; 0: there is none of that kind.
  std::uint64_t file_checksum(FileKind kind) const {
    const auto found = file_checksums.find(kind);
    return found == file_checksums.end() ? 0 : found->second;
  }
};

struct LoadRequest {
  BackingOptions backing;
  /// Set for a backing that is stored; otherwise null.
  std::shared_ptr<device::DeviceStore> device;
  std::uint32_t node = 0;  ///< which of the placement's nodes this is
  /// Tells this load's names (of shared memory and files) from those of tables that are in memory
  /// already. 0: the names have no number.
  std::uint32_t slot = 0;
  unsigned threads = 0;  ///< 0: one per processor
  bool quiet = false;
  /// Files that become the last regions, in this order. A device has no place for them.
  std::vector<std::shared_ptr<const OpenedFile>> beside = {};
  /// Says how much memory this machine has left; called before anything is allocated.
  std::function<MemoryInfo()> memory = memory_info;
  /// The bytes loaded so far, for threads that watch. It may be null.
  std::atomic<std::uint64_t>* loaded_bytes = nullptr;
  /// Ends the load at the next chunk or region once it returns true; a backing's reservation or
  /// write-back of a whole region is finished first. Every loading thread calls it; it may be
  /// empty.
  std::function<bool()> stop;
};

/// A LoadStopped is thrown when LoadRequest::stop ended a load.
class LoadStopped : public std::exception {
 public:
  const char* what() const noexcept override { return "loading was stopped"; }
};

/// Returns the bytes that a load of node `node` reads and checks. It may keep a share of them.
std::uint64_t bytes_to_load(const layout::Manifest& manifest, std::uint32_t node);

/// Loads, verifies, persists, publishes and seals the node's share of every region. On a device, an
/// index that is there already is attached instead. Throws Error naming file and chunk when a
/// checksum does not match, when a file beside it has another length, when there is not enough
/// memory, or when the index's placement has no such node; nothing is left behind then.
std::shared_ptr<const RegionTable> load_index(const layout::IndexDirectory& index,
                                              const LoadRequest& request);

/// Loads the request's files alone, without an index. Throws what load_index() throws.
std::shared_ptr<const RegionTable> load_file_alone(const LoadRequest& request);

/// Attaches the newest index of the node on the request's device. Throws Error when there is none.
std::shared_ptr<const RegionTable> attach_newest(const LoadRequest& request);

}  // namespace farvec::memory_node
