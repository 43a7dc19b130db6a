// SegmentBytes own the bytes of a segment's index; they are in a folder, or on memory nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/memory.h"
#include "layout/index/index_directory.h"
#include "layout/index/manifest.h"
#include "search/index/search_index.h"
#include "tiers/attach/node_set.h"
#include "tiers/record_memory.h"

namespace farvec::collection {

class SegmentFolder;

/// It is immutable, and threads share it.
class SegmentBytes {
 public:
  virtual ~SegmentBytes() = default;

  virtual const layout::Manifest& manifest() const = 0;
  /// Returns the bytes of all files of the segment, or of what memory nodes hold of it.
  virtual std::uint64_t count() const = 0;

  /// Brings what a process keeps of the index in DRAM. `nodes` are those that hold the segment;
  /// null: no node does. Throws Error.
  virtual search::SearchIndex load_index(const layout::LoadOptions& options,
                                         tiers::NodeSet* nodes) const = 0;
  /// Returns the records for a tier of this process. They read nothing yet, and use these bytes.
  /// Null: only nodes have them.
  virtual std::unique_ptr<tiers::IndexRecords> records(
      const layout::LoadOptions& options) const = 0;
  /// Returns the region of the records, whole, each chunk compared with its checksum. `nodes` are
  /// those of load_index(). Throws Error.
  virtual HugeBuffer read_records(const layout::LoadOptions& options,
                                  tiers::NodeSet* nodes) const = 0;
  /// Returns the nodes that these bytes have attached already; null: none.
  virtual std::shared_ptr<tiers::NodeSet> nodes() const { return nullptr; }
  /// Null: the bytes are in no folder.
  virtual const SegmentFolder* folder() const { return nullptr; }
};

}  // namespace farvec::collection
