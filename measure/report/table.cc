#include "measure/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/check.h"
#include "measure/report/statistics.h"

namespace farvec::measure {
namespace {

std::string line_of(std::span<const Column> columns, const std::vector<std::string>& cells) {
  FARVEC_CHECK(cells.size() == columns.size());
  std::string line = fmt::format("{:<{}}", cells.front(), columns.front().width);
  for (std::size_t i = 1; i < cells.size(); ++i) {
    line += fmt::format(" {:>{}}", cells[i], columns[i].width);
  }
  return line;
}

}  // namespace

void print_header(std::span<const Column> columns) {
  std::vector<std::string> titles;
  for (const Column& column : columns) titles.emplace_back(column.title);
  print_row(columns, titles);
}

void print_row(std::span<const Column> columns, const std::vector<std::string>& cells,
               const std::string& remark) {
  fmt::print("{}{}{}\n", line_of(columns, cells), remark.empty() ? "" : "  ", remark);
  std::fflush(stdout);
}

Summary::Summary(const std::vector<double>& values) : median(measure::median(values)) {
  if (values.empty()) return;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  least = *low;
  most = *high;
}

std::string Summary::spread() const {
  return fmt::format("{:.0f}..{:.0f}", least, most);
}

}  // namespace farvec::measure
