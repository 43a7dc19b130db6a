#include "search/index/row_attributes.h"

#include <algorithm>
#include <span>
#include <utility>

namespace farvec::search {
RowAttributes::RowAttributes(std::uint64_t rows, const layout::Schema& schema)
    : schema_(schema),
      matches_(std::make_unique<attributes::MatchCache>(std::max<std::size_t>(kMatchBytes, rows))) {
}

RowAttributes::RowAttributes(SourcePointer source, const layout::TupleView& all,
                             const layout::Schema& schema)
    : RowAttributes(all.count(), schema) {
  source_ = std::move(source);
  columns_ = std::make_unique<const attributes::Columns>(schema_, all);
}

attributes::MatchCache::Rows RowAttributes::matching(const attributes::Condition& condition,
                                                     const std::string& text, std::uint32_t rows,
                                                     const attributes::IdLookup& ids,
                                                     const UpdatesPointer& updates) const {
  const auto matches = matches_->rows_of(text, [&] {
    if (columns_ != nullptr) return columns_->matching(condition, ids);
    return attributes::Columns(rows).matching(condition, ids);
  });
  if (updates == nullptr || updates->empty()) return matches;
  return updated_->rows_of(matches, {condition, text, ids, updates});
}

std::size_t RowAttributes::dram_bytes() const {
  return (source_ == nullptr ? 0 : source_->dram_bytes()) +
         (columns_ == nullptr ? 0 : columns_->dram_bytes()) + matches_->dram_bytes() +
         updated_->dram_bytes() + further_->dram_bytes() + wanted_->dram_bytes();
}

std::vector<std::byte> RowAttributes::read(NodeId row) const {
  if (source_ != nullptr) return source_->read_row(row, schema_);
  const std::span<const std::byte> nulls = layout::null_tuple();
  return {nulls.begin(), nulls.end()};
}

layout::Tuples RowAttributes::read_all() const {
  return source_ == nullptr ? layout::Tuples() : source_->read(schema_);
}

}  // namespace farvec::search
