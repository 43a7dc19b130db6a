#include "cli/index/hnsw_inspection.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "cli/hnsw/page_options.h"
#include "cli/index/inspection.h"
#include "measure/report/json_text.h"
#include "measure/sweep/pages/hnsw_report.h"
#include "ssd_baseline/paged/graph/check.h"

namespace farvec::cli {
namespace {

using Json = nlohmann::ordered_json;
using paged::HnswCheckReport;
using paged::HnswDescription;

Json check_json(const HnswCheckReport& report) {
  return {{"ok", report.ok()},
          {"vertices", report.vertices},
          {"marked", report.marked},
          {"edges", report.edges},
          {"edges_to_marked", report.edges_to_marked},
          {"lost", report.lost},
          {"id_map_entries", report.id_map_entries},
          {"free_list_pages", report.free_list_pages},
          {"layers", report.layers},
          {"problem_count", report.problem_count},
          {"problems", report.problems}};
}

void print_graph(const std::string& path, const HnswDescription& graph) {
  const auto pages = [&](layout::HnswPageKind kind) {
    return grouped(graph.state.pages[static_cast<std::size_t>(kind)]);
  };
  print_line("index", path);
  print_line("kind", fmt::format("HNSW graph on pages, format version {}", graph.format_version));
  print_line("vectors", fmt::format("{} x {} {}, metric {}; {} marked as deleted",
                                    grouped(graph.state.vertices), graph.config.dimension,
                                    to_string(graph.config.type), to_string(graph.config.metric),
                                    grouped(graph.state.marked)));
  print_line("build", fmt::format("m {}, ef_construction {}, seed {}", graph.config.m,
                                  graph.config.ef_construction, graph.config.seed));
  print_line("entry", fmt::format("on layer {}", graph.state.entry_level));
  print_line("pages",
             fmt::format("{} of {} bytes, {} bytes: {} of vertices, {} of ids, {} of "
                         "partitions",
                         grouped(graph.pages), graph.page_bytes, grouped(graph.bytes()),
                         pages(layout::HnswPageKind::vertices), pages(layout::HnswPageKind::id_map),
                         pages(layout::HnswPageKind::partitions)));
  if (graph.state.partitions == layout::kNoPage || graph.format_version == 1) return;
  print_line("insert pages",
             fmt::format("{} partitions have one; inserts bring them about up to "
                         "{:.4g}% of the pages of vectors",
                         grouped(graph.state.insert_pages), graph.config.most_insert_pages / 1e4));
}

void print_check(const HnswCheckReport& report) {
  for (const std::string& problem : report.problems) fmt::print("wrong: {}\n", problem);
  std::string layers;
  for (const std::uint64_t count : report.layers) {
    layers += (layers.empty() ? "" : ", ") + grouped(count);
  }
  print_line("layers", layers + " vertices, from the lowest");
  print_line("edges", fmt::format("{}, {} of them to marked vertices", grouped(report.edges),
                                  grouped(report.edges_to_marked)));
  if (report.lost > 0) {
    print_line("lost",
               fmt::format("{} vertices to which no edge of the lowest layer leads: searches "
                           "hardly find them until a vacuum links them again",
                           grouped(report.lost)));
  }
  if (report.ok()) fmt::print("\nverified: every page, edge, id and count agrees\n");
}

}  // namespace

void inspect_hnsw(const std::string& path, const HnswInspectionOptions& options) {
  const auto hnsw = measure::open_hnsw(path, {});
  const HnswDescription description = hnsw->describe();
  std::optional<HnswCheckReport> report;
  if (options.verify) report = paged::check_hnsw(*hnsw, options.quiet);
  if (options.json) {
    Json json{{"path", path}};
    json.update(hnsw_json(description));
    if (report) json["check"] = check_json(*report);
    fmt::print("{}\n", measure::json_text(json));
  } else {
    print_graph(path, description);
    if (report) print_check(*report);
  }
  if (report && !report->ok()) {
    throw Error("'{}' does not hold together: {} faults", path, report->problem_count);
  }
}

}  // namespace farvec::cli
