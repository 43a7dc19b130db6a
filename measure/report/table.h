// Prints a table of measurements row by row while they come.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farvec::measure {

struct Column {
  std::string_view title;
  int width;  ///< width of title and cells; longer ones push the rest to the right
};

/// Prints the titles. The first column is aligned to the left, all others to the right.
void print_header(std::span<const Column> columns);
/// Prints as many cells as there are columns, then the remark after the last one. The row has been
/// written out when it returns.
void print_row(std::span<const Column> columns, const std::vector<std::string>& cells,
               const std::string& remark = "");

/// Summarises what several passes measured. Everything is 0 when there were none.
struct Summary {
  explicit Summary(const std::vector<double>& values);

  /// Returns "LEAST..MOST", rounded to whole numbers.
  std::string spread() const;

  double median = 0;
  double least = 0;
  double most = 0;
};

}  // namespace farvec::measure
