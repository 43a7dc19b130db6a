// The command `farvec report` makes a page for a browser from the rows of sweeps.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/output_file.h"
#include "cli/commands.h"
#include "measure/page/report_page.h"
#include "measure/report/json_rows.h"
#include "measure/report/json_text.h"

namespace farvec::cli {
namespace {

struct ReportArguments {
  std::vector<std::string> files;
  std::string out;
  bool json = false;
};

/// Checks that a row has what the page draws.
void check_row(const nlohmann::ordered_json& row, const std::string& path) {
  if (row.contains("error")) return;
  for (const char* name : {"tier", "k", "recall", "qps", "p50_us", "p99_us"}) {
    if (row.contains(name)) continue;
    throw Error("a row of '{}' lacks '{}': it is no file of `farvec sweep --json`", path, name);
  }
}

std::vector<nlohmann::ordered_json> rows_of(const std::vector<std::string>& files) {
  std::vector<nlohmann::ordered_json> rows;
  for (const std::string& path : files) {
    measure::JsonRows read = measure::read_json_rows(path);
    if (read.cut_off()) {
      fmt::print(stderr, "'{}': its last line was cut off and is left out\n", path);
    }
    for (auto& row : read.rows) {
      check_row(row, path);
      rows.push_back(std::move(row));
    }
  }
  if (rows.empty()) {
    throw Error("no row in '{}'{}: did the sweep finish?", files.front(),
                files.size() > 1 ? " and the other files" : "");
  }
  return rows;
}

void report(const ReportArguments& arguments) {
  check_output(arguments.out);
  const auto rows = rows_of(arguments.files);
  measure::write_report_page(arguments.out, rows);
  if (arguments.json) {
    const nlohmann::ordered_json facts{
        {"out", arguments.out}, {"rows", rows.size()}, {"files", arguments.files.size()}};
    fmt::print("{}\n", measure::json_text(facts));
    return;
  }
  fmt::print("{}: {} rows of {} files\n", arguments.out, rows.size(), arguments.files.size());
}

}  // namespace

void register_report_command(Command& tool) {
  auto arguments = std::make_shared<ReportArguments>();
  Command command = tool.add_command(
      "report", "Draw the rows of sweeps: one page for a browser, without network");
  command.add_option("files", arguments->files, "JSON lines of `farvec sweep --json`").required();
  command.add_option("--out", arguments->out, "HTML file to write").required();
  command.add_flag("--json", arguments->json, "Report as one JSON object");
  command.footer(
      "The page shows recall against rate, latency, reads and bytes, with switches for tiers and\n"
      "indexes, a table that can be sorted, and where and by which commands it was measured.\n"
      "\n"
      "Example:\n"
      "  farvec report graph.jsonl clusters.jsonl --out report.html");
  command.callback([arguments] { report(*arguments); });
}

}  // namespace farvec::cli
