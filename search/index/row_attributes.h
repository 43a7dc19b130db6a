// RowAttributes are the attributes of the rows of an index, or of a collection's segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attributes/columns.h"
#include "attributes/condition.h"
#include "attributes/match_cache.h"
#include "base/types.h"
#include "layout/attributes/tuple.h"
#include "layout/attributes/tuple_source.h"
#include "search/index/further_matches.h"
#include "search/index/updated_matches.h"
#include "search/index/wanted_rows.h"

namespace farvec::search {

/// Immutable, and threads share it. The tuples stay at their source; what conditions ask for is in
/// DRAM.
class RowAttributes {
 public:
  /// What the rows that met the last conditions may take of DRAM: this many bytes, or one for each
  /// row where these are more.
  static constexpr std::size_t kMatchBytes = std::size_t{4} << 20;

  /// Makes those of rows without attributes.
  RowAttributes() : matches_(std::make_unique<attributes::MatchCache>(kMatchBytes)) {}
  using SourcePointer = std::unique_ptr<const layout::TupleSource>;

  /// Makes those of rows that are older than the first column of the schema: all are null.
  RowAttributes(std::uint64_t rows, const layout::Schema& schema);
  /// Makes columns of `all`, which are the tuples at the source, whole, and are not needed then.
  RowAttributes(SourcePointer source, const layout::TupleView& all, const layout::Schema& schema);

  /// Returns the columns that the rows had when they were written.
  const layout::Schema& schema() const { return schema_; }
  /// Reads the tuple of one row from its source, and throws what that throws. Without a source all
  /// values are null.
  std::vector<std::byte> read(NodeId row) const;
  /// Reads the tuples of all rows; none where there is no source.
  layout::Tuples read_all() const;

  /// Returns the rows, of `rows`, for which the condition, whose text is `text`, is true. `ids` are
  /// theirs. Rows that were updated are asked by their new attributes; null: none was.
  attributes::MatchCache::Rows matching(const attributes::Condition& condition,
                                        const std::string& text, std::uint32_t rows,
                                        const attributes::IdLookup& ids,
                                        const UpdatesPointer& updates = nullptr) const;
  /// Returns what matching() returned, and these rows.
  attributes::MatchCache::Rows with_further(const attributes::MatchCache::Rows& matches,
                                            const FurtherRows& further,
                                            const FurtherMatches::Find& find) const {
    return further_->rows_of(matches, further, find);
  }
  /// Returns those of `matches`, which matching() returned, or with_further(), that are not in
  /// `out`, and all others. They are rows of `index`.
  WantedPointer wanted(const attributes::MatchCache::Rows& matches,
                       const std::shared_ptr<const RowSet>& out, const SearchIndex& index) const {
    return wanted_->rows_of(matches, out, index);
  }
  /// Says whether the rows had attributes when they were written.
  bool has_tuples() const { return source_ != nullptr; }

  std::size_t dram_bytes() const;

 private:
  layout::Schema schema_;
  SourcePointer source_;                                ///< null: all are null
  std::unique_ptr<const attributes::Columns> columns_;  ///< null where there is no source
  std::unique_ptr<attributes::MatchCache> matches_;
  std::unique_ptr<UpdatedMatches> updated_ = std::make_unique<UpdatedMatches>();
  std::unique_ptr<FurtherMatches> further_ = std::make_unique<FurtherMatches>();
  std::unique_ptr<WantedCache> wanted_ = std::make_unique<WantedCache>();
};

}  // namespace farvec::search
