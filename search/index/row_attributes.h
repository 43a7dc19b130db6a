// RowAttributes are the attributes of the rows of an index, or of a collection's segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attributes/columns.h"
#include "attributes/condition.h"
#include "attributes/match_cache.h"
#include "base/types.h"
#include "layout/attributes/tuple.h"
#include "layout/collection/segment_attributes.h"
#include "search/index/updated_matches.h"
#include "search/index/wanted_rows.h"

namespace farvec::search {

/// Immutable, and threads share it. The tuples stay in their file; what conditions ask for is in
/// DRAM.
class RowAttributes {
 public:
  /// What the rows that met the last conditions may take of DRAM: this many bytes, or one for each
  /// row where these are more.
  static constexpr std::size_t kMatchBytes = std::size_t{4} << 20;

  /// Makes those of rows without attributes.
  RowAttributes() : matches_(std::make_unique<attributes::MatchCache>(kMatchBytes)) {}
  /// Reads the file, and checks every tuple; does nothing where the segment has none. Throws Error
  /// naming the file.
  RowAttributes(const std::filesystem::path& path, const layout::SegmentEntry& segment,
                const layout::Schema& schema);

  /// Returns the columns that the rows had when they were written.
  const layout::Schema& schema() const { return schema_; }
  /// Reads the tuple of one row from the file. Throws Error naming it. Without a file all values
  /// are null.
  std::vector<std::byte> read(NodeId row) const;
  /// Reads the tuples of all rows; none where there is no file. Throws Error naming it.
  layout::Tuples read_all() const;

  /// Returns the rows, of `rows`, for which the condition, whose text is `text`, is true. `ids` are
  /// theirs. Rows that were updated are asked by their new attributes; null: none was.
  attributes::MatchCache::Rows matching(const attributes::Condition& condition,
                                        const std::string& text, std::uint32_t rows,
                                        const attributes::IdLookup& ids,
                                        const UpdatesPointer& updates = nullptr) const;
  /// Returns those of `matches`, which matching() returned, that are not in `out`, and all others.
  /// They are rows of `index`.
  WantedPointer wanted(const attributes::MatchCache::Rows& matches,
                       const std::shared_ptr<const RowSet>& out, const SearchIndex& index) const {
    return wanted_->rows_of(matches, out, index);
  }
  /// Says whether there is a file of attributes.
  bool has_file() const { return file_ != nullptr; }

  std::size_t dram_bytes() const;

 private:
  layout::Schema schema_;
  std::unique_ptr<const layout::SegmentAttributesFile> file_;  ///< null: all are null
  std::unique_ptr<const attributes::Columns> columns_;         ///< null where there is no file
  std::unique_ptr<attributes::MatchCache> matches_;
  std::unique_ptr<UpdatedMatches> updated_ = std::make_unique<UpdatedMatches>();
  std::unique_ptr<WantedCache> wanted_ = std::make_unique<WantedCache>();
};

}  // namespace farvec::search
