#include "collection/segment/segment_attributes.h"

#include <algorithm>
#include <span>

namespace farvec::collection {

SegmentAttributes::SegmentAttributes(const std::filesystem::path& path,
                                     const layout::SegmentEntry& segment,
                                     const layout::Schema& schema)
    : schema_(schema),
      matches_(std::make_unique<attributes::MatchCache>(
          std::max<std::size_t>(kMatchBytes, segment.rows))) {
  if (!segment.attributed) return;
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
  const attributes::IdLookup lookup{.row_of = [&](std::uint64_t id) { return ids.find(id); },
                                    .id_of = [&](NodeId row) { return ids.of(row); }};
  if (columns_ != nullptr) return columns_->matching(condition, lookup);
  return attributes::Columns(ids.rows()).matching(condition, lookup);
}

std::size_t SegmentAttributes::dram_bytes() const {
  return (columns_ == nullptr ? 0 : columns_->dram_bytes()) + matches_->dram_bytes() +
         wanted_->dram_bytes();
}

std::vector<std::byte> SegmentAttributes::read(NodeId row) const {
  if (file_ != nullptr) return file_->read_row(row, schema_);
  const std::span<const std::byte> nulls = layout::null_tuple();
  return {nulls.begin(), nulls.end()};
}

layout::Tuples SegmentAttributes::read_all() const {
  return file_ == nullptr ? layout::Tuples() : file_->read(schema_);
}

}  // namespace farvec::collection
