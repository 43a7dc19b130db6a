#include "collection/segment/segment_attributes.h"

#include "base/check.h"

namespace farvec::collection {

SegmentAttributes::SegmentAttributes(const std::filesystem::path& path,
                                     const layout::SegmentEntry& segment,
                                     const layout::Schema& schema)
    : schema_(schema) {
  if (schema.empty()) return;
  file_ = std::make_unique<const layout::SegmentAttributesFile>(path, segment);
  (void)file_->read(schema_);
}

std::vector<std::byte> SegmentAttributes::read(NodeId row) const {
  FARVEC_CHECK(file_ != nullptr, "the rows of the segment have no attributes");
  return file_->read_row(row, schema_);
}

layout::Tuples SegmentAttributes::read_all() const {
  return file_ == nullptr ? layout::Tuples() : file_->read(schema_);
}

}  // namespace farvec::collection
