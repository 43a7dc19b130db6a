// SegmentAttributes are the attributes of the rows of a segment.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/types.h"
#include "layout/attributes/tuple.h"
#include "layout/collection/segment_attributes.h"

namespace farvec::collection {

/// Immutable, and threads share it. The tuples stay in their file; what conditions ask for is in
/// DRAM.
class SegmentAttributes {
 public:
  /// Makes those of rows without attributes.
  SegmentAttributes() = default;
  /// Reads the file, and checks every tuple; does nothing where the schema has no columns. Throws
  /// Error naming the file.
  SegmentAttributes(const std::filesystem::path& path, const layout::SegmentEntry& segment,
                    const layout::Schema& schema);

  /// Reads the tuple of one row from the file. Throws Error naming it.
  std::vector<std::byte> read(NodeId row) const;
  /// Reads the tuples of all rows; none where rows have no attributes. Throws Error naming the
  /// file.
  layout::Tuples read_all() const;

  std::size_t dram_bytes() const { return 0; }

 private:
  layout::Schema schema_;
  std::unique_ptr<const layout::SegmentAttributesFile> file_;  ///< null: rows have none
};

}  // namespace farvec::collection
