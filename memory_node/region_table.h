// What a memory node serves: the regions of one index, published.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "layout/index_directory.h"
#include "memory_node/backing/backing.h"

namespace farvec::memory_node {

struct Region {
  std::uint32_t id = 0;
  std::string kind;  ///< the layout's word: "records.csr", "codes"
  std::uint64_t bytes = 0;
  std::unique_ptr<Backing> backing;
};

/// Immutable once published; shared by all threads.
struct RegionTable {
  std::vector<Region> regions;  ///< by id
  std::string manifest_json;
  std::uint32_t node = 0;        ///< of the manifest's placement
  std::uint64_t generation = 0;  ///< random; differs between two publications
  double load_seconds = 0;

  std::uint64_t total_bytes() const;
};

/// Nothing until a table is published, once. Thread-safe.
class PublishedRegions {
 public:
  void publish(std::shared_ptr<const RegionTable> table) {
    std::lock_guard lock(mutex_);
    table_ = std::move(table);
  }
  std::shared_ptr<const RegionTable> get() const {
    std::lock_guard lock(mutex_);
    return table_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const RegionTable> table_;
};

struct LoadRequest {
  BackingOptions backing;
  std::uint32_t node = 0;  ///< which of the placement's nodes this is
  unsigned threads = 0;    ///< 0: one per processor
  bool quiet = false;
  /// Bytes loaded so far, for whoever watches. May be null.
  std::atomic<std::uint64_t>* loaded_bytes = nullptr;
  /// Ends the load at the next chunk or region once true; a backing's reservation or write-back of
  /// a whole region is finished first. May be null.
  const std::atomic<bool>* stop = nullptr;
};

/// Thrown when LoadRequest::stop ended a load.
class LoadStopped : public std::exception {
 public:
  const char* what() const noexcept override { return "loading was stopped"; }
};

/// Payload bytes that a load reads and checks, of which a node may keep a share.
std::uint64_t bytes_to_load(const layout::Manifest& manifest);

/// Loads, verifies, persists, publishes and seals the node's share of every region. Throws Error
/// naming file and chunk when a checksum does not match, when there is not enough memory, or when
/// the index's placement has no such node; nothing is left behind then.
std::shared_ptr<const RegionTable> load_index(const layout::IndexDirectory& index,
                                              const LoadRequest& request);

}  // namespace farvec::memory_node
