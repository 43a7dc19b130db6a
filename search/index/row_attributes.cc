#include "search/index/row_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace farvec::search {
namespace {

/// Returns `matches` as they are when the rows that were updated are asked by their new attributes.
attributes::RowBitmap asked_again(const attributes::RowBitmap& matches,
                                  const attributes::Condition& condition,
                                  const attributes::IdLookup& ids,
                                  const layout::UpdatedTuples& updates) {
  attributes::RowBitmap now = matches;
  for (const NodeId row : updates.rows()) {
    const layout::Tuple tuple(updates.find(row));
    if (evaluate(condition, tuple, ids.id_of(row)) == attributes::Truth::yes) {
      now.add(row);
    } else {
      now.remove(row);
    }
  }
  return now;
}

}  // namespace

RowAttributes::RowAttributes(const std::filesystem::path& path, const layout::SegmentEntry& segment,
                             const layout::Schema& schema)
    : schema_(schema),
      matches_(std::make_unique<attributes::MatchCache>(
          std::max<std::size_t>(kMatchBytes, segment.rows))) {
  if (!segment.attributed) return;
  file_ = std::make_unique<const layout::SegmentAttributesFile>(path, segment);
  columns_ = std::make_unique<const attributes::Columns>(schema_, file_->read(schema_).view());
}

attributes::MatchCache::Rows RowAttributes::matching(const attributes::Condition& condition,
                                                     const std::string& text, std::uint32_t rows,
                                                     const attributes::IdLookup& ids,
                                                     const layout::UpdatedTuples& updates) const {
  const auto matches = matches_->rows_of(text, [&] {
    if (columns_ != nullptr) return columns_->matching(condition, ids);
    return attributes::Columns(rows).matching(condition, ids);
  });
  if (updates.empty()) return matches;
  return matches_->rows_of(fmt::format("{} and the updates {}", text, updates.serial()),
                           [&] { return asked_again(*matches, condition, ids, updates); });
}

std::size_t RowAttributes::dram_bytes() const {
  return (columns_ == nullptr ? 0 : columns_->dram_bytes()) + matches_->dram_bytes() +
         wanted_->dram_bytes();
}

std::vector<std::byte> RowAttributes::read(NodeId row) const {
  if (file_ != nullptr) return file_->read_row(row, schema_);
  const std::span<const std::byte> nulls = layout::null_tuple();
  return {nulls.begin(), nulls.end()};
}

layout::Tuples RowAttributes::read_all() const {
  return file_ == nullptr ? layout::Tuples() : file_->read(schema_);
}

}  // namespace farvec::search
