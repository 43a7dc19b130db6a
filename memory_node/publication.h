// What a memory node serves: one published table, segments of collections, and what was replaced
// or dropped and is still read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "layout/collection/segment_key.h"
#include "memory_node/read_path.h"
#include "memory_node/region_table.h"

namespace farvec::memory_node {

/// A table and the ways to read it, which end before its memory goes. Immutable once published.
struct Publication {
  std::shared_ptr<const RegionTable> table;
  std::uint32_t slot = 0;      ///< LoadRequest::slot of its load
  bool segment = false;        ///< of a collection; else an index that the node serves alone
  bool catalogue = false;      ///< of a collection, which counts as a segment
  std::string name;            ///< of a catalogue: of its collection
  std::uint64_t revision = 0;  ///< of a catalogue
  std::vector<std::unique_ptr<ReadPath>> paths;

  ReadPath* find_path(v1::Transport transport) const;
};

/// The newest publication goes to whoever attaches, and segments to those who name them, among
/// which a collection's catalogue has layout::kCatalogueNumber. What was
/// replaced or dropped stays as long as somebody else than this class refers to it, which is to say
/// a lease or a call; then collect() frees it, so that the listeners of its paths never end on a
/// thread of their own or under a lock. Thread-safe.
class Publications {
 public:
  struct Usage {
    std::uint64_t tables = 0;
    std::uint64_t bytes = 0;
    std::uint64_t published = 0;  ///< ever; without segments
    std::uint64_t segments = 0;   ///< of the tables
    std::uint64_t segment_bytes = 0;
    std::uint64_t catalogue_bytes = 0;  ///< of these
  };

  /// Replaces the current one.
  void publish(std::shared_ptr<const Publication> publication);
  /// Null until the first.
  std::shared_ptr<const Publication> current() const;
  /// In place of the segment that has the key, if there is one.
  void put_segment(const layout::SegmentKey& key, std::shared_ptr<const Publication> segment);
  void drop_segment(const layout::SegmentKey& key);  ///< nothing where there is none
  /// Null when there is none.
  std::shared_ptr<const Publication> segment(const layout::SegmentKey& key) const;
  /// Catalogues, by the numbers of their collections.
  std::map<std::uint64_t, std::shared_ptr<const Publication>> catalogues() const;
  /// Of one collection, by number; without its catalogue.
  std::map<std::uint64_t, std::shared_ptr<const Publication>> segments_of(
      std::uint64_t collection) const;
  /// The smallest that no table in memory has.
  std::uint32_t free_slot() const;
  /// Frees whatever was replaced or dropped and nobody reads any more.
  void collect();
  Usage usage() const;

 private:
  template <typename Visit>
  void visit_all(const Visit& visit) const;

  mutable std::mutex mutex_;
  std::shared_ptr<const Publication> current_;
  std::map<layout::SegmentKey, std::shared_ptr<const Publication>> segments_;
  std::vector<std::shared_ptr<const Publication>> replaced_;  ///< and dropped
  std::uint64_t published_ = 0;
};

}  // namespace farvec::memory_node
