// What a memory node serves: one published table, and replaced ones that are still read.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "memory_node/read_path.h"
#include "memory_node/region_table.h"

namespace farvec::memory_node {

/// A table and the ways to read it, which end before its memory goes. Immutable once published.
struct Publication {
  std::shared_ptr<const RegionTable> table;
  std::uint32_t slot = 0;  ///< LoadRequest::slot of its load
  std::vector<std::unique_ptr<ReadPath>> paths;

  ReadPath* find_path(v1::Transport transport) const;
};

/// The newest publication goes to whoever attaches. A replaced one stays as long as somebody else
/// than this class refers to it, which is to say a lease or a call; then collect() frees it, so
/// that the listeners of its paths never end on a thread of their own or under a lock. Thread-safe.
class Publications {
 public:
  struct Usage {
    std::uint64_t tables = 0;
    std::uint64_t bytes = 0;
    std::uint64_t published = 0;  ///< ever
  };

  /// Replaces the current one.
  void publish(std::shared_ptr<const Publication> publication);
  /// Null until the first.
  std::shared_ptr<const Publication> current() const;
  /// The smallest that no table in memory has.
  std::uint32_t free_slot() const;
  /// Frees every replaced publication that nobody reads any more.
  void collect();
  Usage usage() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Publication> current_;
  std::vector<std::shared_ptr<const Publication>> replaced_;
  std::uint64_t published_ = 0;
};

}  // namespace farvec::memory_node
