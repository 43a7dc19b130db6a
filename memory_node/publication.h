// Publications hold what a memory node serves: one published table, segments of collections, and
// tables that were replaced or dropped and are still read.
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

/// A Publication is a table and the ways to read it, which end before its memory goes. Immutable
/// once published.
struct Publication {
  std::shared_ptr<const RegionTable> table;
  std::uint32_t slot = 0;  ///< LoadRequest::slot of its load
  bool segment = false;  ///< whether it belongs to a collection; else it is an index that the node
                         ///< serves alone
  bool catalogue = false;  ///< whether it is a collection's catalogue, which counts as a segment
  std::string name;        ///< for a catalogue, its collection's name
  std::uint64_t revision = 0;  ///< for a catalogue
  std::vector<std::unique_ptr<ReadPath>> paths;

  ReadPath* find_path(v1::Transport transport) const;
};

/// Publications give a client that attaches the newest publication, or a segment when it names one.
/// A collection's catalogue is the segment with the number layout::kCatalogueNumber. A publication
/// that was replaced or dropped stays as long as anything besides this class refers to it, which is
/// a lease or a call. Then collect() frees it, so that the listeners of its paths never end on a
/// thread of their own or under a lock. Thread-safe.
class Publications {
 public:
  struct Usage {
    std::uint64_t tables = 0;
    std::uint64_t bytes = 0;
    std::uint64_t published = 0;  ///< all since the start; without segments
    std::uint64_t segments = 0;   ///< how many of the tables are segments
    std::uint64_t segment_bytes = 0;
    std::uint64_t catalogue_bytes = 0;  ///< part of segment_bytes
  };

  /// Replaces the current publication.
  void publish(std::shared_ptr<const Publication> publication);
  /// Returns null until the first one.
  std::shared_ptr<const Publication> current() const;
  /// Replaces the segment that has the key, if there is one.
  void put_segment(const layout::SegmentKey& key, std::shared_ptr<const Publication> segment);
  void drop_segment(const layout::SegmentKey& key);  ///< does nothing when there is none
  /// Returns null when there is none.
  std::shared_ptr<const Publication> segment(const layout::SegmentKey& key) const;
  /// Returns the catalogues, keyed by the numbers of their collections.
  std::map<std::uint64_t, std::shared_ptr<const Publication>> catalogues() const;
  /// Returns the segments of one collection, keyed by number, without its catalogue.
  std::map<std::uint64_t, std::shared_ptr<const Publication>> segments_of(
      std::uint64_t collection) const;
  /// Returns the smallest slot that no table in memory has.
  std::uint32_t free_slot() const;
  /// Frees publications that were replaced or dropped and are no longer read.
  void collect();
  Usage usage() const;

 private:
  template <typename Visit>
  void visit_all(const Visit& visit) const;

  mutable std::mutex mutex_;
  std::shared_ptr<const Publication> current_;
  std::map<layout::SegmentKey, std::shared_ptr<const Publication>> segments_;
  std::vector<std::shared_ptr<const Publication>> replaced_;  ///< replaced or dropped ones
  std::uint64_t published_ = 0;
};

}  // namespace farvec::memory_node
