// A RecordReader reads the records of a whole region in local memory, one after another.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "layout/graph/graph_layout.h"

namespace farvec::layout {

/// A RecordReader is for tools that read every record. It borrows locator and region; each thread
/// needs its own.
class RecordReader {
 public:
  /// `region` is the locator's region, header included.
  RecordReader(const GraphLocator& locator, std::span<const std::byte> region)
      : locator_(locator), region_(region), scratch_(locator.geometry().scratch_ids()) {}

  /// Valid until the next record is read. Throws Error for a record that cannot be read.
  NodeRecord read(NodeId id) {
    const Extent extent = locator_.locate(id);
    const Result<NodeRecord> record =
        locator_.parse(id, extent, region_.subspan(extent.offset, extent.bytes), scratch_);
    if (!record.ok()) throw Error("vertex {}: {}", id, record.status().message());
    return record.value();
  }

 private:
  const GraphLocator& locator_;
  const std::span<const std::byte> region_;
  std::vector<NodeId> scratch_;
};

}  // namespace farvec::layout
