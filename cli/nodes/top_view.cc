#include "cli/nodes/top_view.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace farvec::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Fact {
  std::string_view title;
  const char* name;
  int width;  ///< width of its column
  int digits = 0;
};

constexpr int kNodeWidth = 26;
constexpr int kStateWidth = 10;
constexpr Fact kFacts[] = {{"queries/s", "queries_per_s", 10},
                           {"p99 us", "p99_us", 9},
                           {"refused/s", "refused_per_s", 10},
                           {"running", "running", 8},
                           {"waiting", "waiting", 8},
                           {"reads/s", "reads_per_s", 11},
                           {"in flight", "reads_in_flight", 10},
                           {"recall", "recall", 7, 3},
                           {"changes/s", "changes_per_s", 10},
                           {"stale ms", "stale_ms", 9, 1},
                           {"leases", "leases", 7}};
constexpr std::string_view kNone = "-";
constexpr std::size_t kIndent = 2;
constexpr std::size_t kCell = 20;  ///< width of a cell in a narrow view

std::string text_of(const Json& node, const char* name) {
  return node.at(name).get<std::string>();
}

std::string value_of(const Json& node, const Fact& fact) {
  const auto found = node.find(fact.name);
  if (found == node.end() || found->is_null()) return std::string(kNone);
  return fmt::format("{:.{}f}", found->get<double>(), fact.digits);
}

std::string table_line(const Json& node) {
  std::string line = fmt::format("{:<{}} {:>{}}", text_of(node, "address"), kNodeWidth,
                                 text_of(node, "state"), kStateWidth);
  for (const Fact& fact : kFacts) line += fmt::format(" {:>{}}", value_of(node, fact), fact.width);
  if (node.contains("failure")) line += "    " + text_of(node, "failure");
  return line + '\n';
}

std::string table_header() {
  std::string line = fmt::format("{:<{}} {:>{}}", "node", kNodeWidth, "state", kStateWidth);
  for (const Fact& fact : kFacts) line += fmt::format(" {:>{}}", fact.title, fact.width);
  return line + '\n';
}

/// Returns the facts that the node has, in as many cells a line as there is room for.
std::string cells_of(const Json& node, std::size_t columns) {
  const std::size_t most = std::max<std::size_t>(1, columns / (kIndent + kCell));
  std::string lines;
  std::size_t cells = 0;
  for (const Fact& fact : kFacts) {
    const std::string value = value_of(node, fact);
    if (value == kNone) continue;
    if (cells > 0 && cells % most == 0) lines += '\n';
    lines += fmt::format("{:{}}{} {:>{}}", "", kIndent, fact.title, value,
                         kCell - 1 - fact.title.size());
    ++cells;
  }
  if (cells > 0) lines += '\n';
  return lines;
}

std::string narrow_lines(const Json& node, std::size_t columns) {
  std::string lines = fmt::format("{} {}\n", text_of(node, "address"), text_of(node, "state")) +
                      cells_of(node, columns);
  if (node.contains("failure"))
    lines += fmt::format("{:{}}{}\n", "", kIndent, text_of(node, "failure"));
  return lines;
}

}  // namespace

std::size_t top_table_width() {
  return table_header().size() - 1;  // the end of the line does not count
}

std::string top_view(const std::vector<Json>& nodes, std::size_t columns) {
  const bool narrow = columns != 0 && columns < top_table_width();
  std::string view = narrow ? "" : table_header();
  for (const Json& node : nodes) view += narrow ? narrow_lines(node, columns) : table_line(node);
  return view;
}

std::size_t terminal_columns() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace farvec::cli
