// A table of measurements, printed row by row as they come.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farvec::measure {

struct Column {
  std::string_view title;
  int width;  ///< of title and cells; longer ones push the rest to the right
};

/// The first column is aligned to the left, all others to the right.
void print_header(std::span<const Column> columns);
/// As many cells as columns; the remark follows the last. Written out when it returns.
void print_row(std::span<const Column> columns, const std::vector<std::string>& cells,
               const std::string& remark = "");

/// What several passes measured. All 0 for none.
struct Summary {
  explicit Summary(const std::vector<double>& values);

  /// "LEAST..MOST", rounded to whole numbers.
  std::string spread() const;

  double median = 0;
  double least = 0;
  double most = 0;
};

}  // namespace farvec::measure
