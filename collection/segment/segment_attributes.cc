#include "collection/segment/segment_attributes.h"

#include <algorithm>

#include "base/check.h"

namespace farvec::collection {

SegmentAttributes::SegmentAttributes(const std::filesystem::path& path,
                                     const layout::SegmentEntry& segment,
                                     const layout::Schema& schema)
    : schema_(schema),
      matches_(std::make_unique<attributes::MatchCache>(
          std::max<std::size_t>(kMatchBytes, segment.rows))) {
  if (schema.empty()) return;
  file_ = std::make_unique<const layout::SegmentAttributesFile>(path, segment);
  columns_ = std::make_unique<const attributes::Columns>(schema_, file_->read(schema_).view());
}

attributes::MatchCache::Rows SegmentAttributes::matching(const attributes::Condition& condition,
                                                         const std::string& text,
                                                         const RowIds& ids) const {
  return matches_->rows_of(text, [&] { return find(condition, ids); });
}

attributes::RowBitmap SegmentAttributes::find(const attributes::Condition& condition,
                                              const RowIds& ids) const {
  if (columns_ != nullptr) {
    return columns_->matching(condition, {.row_of = [&](std::uint64_t id) { return ids.find(id); },
                                          .id_of = [&](NodeId row) { return ids.of(row); }});
  }
  // Only ids can differ.
  const layout::Tuple nulls(layout::null_tuple());
  attributes::RowBitmap rows;
  for (NodeId row = 0; row < ids.rows(); ++row) {
    if (evaluate(condition, nulls, ids.of(row)) == attributes::Truth::yes) rows.add(row);
  }
  return rows;
}

std::size_t SegmentAttributes::dram_bytes() const {
  return (columns_ == nullptr ? 0 : columns_->dram_bytes()) + matches_->dram_bytes() +
         wanted_->dram_bytes();
}

std::vector<std::byte> SegmentAttributes::read(NodeId row) const {
  FARVEC_CHECK(file_ != nullptr, "the rows of the segment have no attributes");
  return file_->read_row(row, schema_);
}

layout::Tuples SegmentAttributes::read_all() const {
  return file_ == nullptr ? layout::Tuples() : file_->read(schema_);
}

}  // namespace farvec::collection
