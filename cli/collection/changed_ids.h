// ChangedIds are the ids of the vectors that a command deletes or updates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "dataset/groundtruth.h"
#include "measure/report/row_range.h"

namespace farvec::cli {

/// Says which vectors a command changes.
struct ChangedRowsArguments {
  std::string range;
  std::string ids;
  std::string filter;
};

void add_changed_rows_options(Command& command, ChangedRowsArguments& arguments);
/// Throws Error unless one of them is given.
void check_changed_rows(const ChangedRowsArguments& arguments);

/// Returns ids that count up.
std::vector<std::uint64_t> numbered(std::uint64_t first, std::size_t count);

/// Hands out ids from a file or a range. A range may be longer than memory.
class ChangedIds {
 public:
  /// Throws Error.
  explicit ChangedIds(const ChangedRowsArguments& arguments);

  std::size_t count() const { return range_.end - range_.begin; }
  /// Returns the next of them, at most `most`; none when all have been taken.
  std::vector<std::uint64_t> take(std::size_t most);

 private:
  measure::RowRange range_;
  dataset::GroundTruth file_;
};

}  // namespace farvec::cli
