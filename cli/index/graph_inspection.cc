#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/index/code_bits_option.h"
#include "cli/index/inspection.h"
#include "indexing/steering_words.h"

namespace farvec::cli {
namespace {

using layout::LayoutCost;
using layout::LayoutKind;
using layout::Manifest;

/// Returns the layouts whose cost is known for this graph: csr and padded where codes of every
/// vertex are there, and its own.
std::vector<LayoutKind> layouts_of(const Manifest& manifest) {
  const LayoutKind own = manifest.graph().layout;
  std::vector<LayoutKind> layouts;
  for (const LayoutKind kind : layout::kGraphLayouts) {
    const bool by_codes = kind == LayoutKind::csr || kind == LayoutKind::padded;
    if (kind == own || (by_codes && own != LayoutKind::inlined)) layouts.push_back(kind);
  }
  return layouts;
}

nlohmann::ordered_json cost_to_json(const LayoutCost& cost) {
  return {{"records_bytes", cost.records_bytes},
          {"amplification", cost.amplification},
          {"codes_bytes", cost.codes_bytes},
          {"offsets_bytes", cost.offsets_bytes},
          {"vectors_bytes", cost.vectors_bytes},
          {"total_bytes", cost.total_bytes()},
          {"total_amplification", cost.total_amplification},
          {"compute_dram_bytes_per_vector", cost.compute_dram_bytes_per_vector}};
}

/// Returns the number of vertices with fewer than half of the edges that the build was to give
/// them.
std::uint64_t sparse_vertices(const layout::DegreeReport& degrees, std::uint32_t degree) {
  std::uint64_t sparse = 0;
  for (std::size_t d = 0; d < degrees.histogram.size() && 2 * d < degree; ++d) {
    sparse += degrees.histogram[d];
  }
  return sparse;
}

nlohmann::ordered_json degrees_to_json(const layout::DegreeReport& degrees, std::uint32_t degree) {
  return {{"min", degrees.least},
          {"mean", degrees.mean},
          {"p50", degrees.p50},
          {"p90", degrees.p90},
          {"p99", degrees.p99},
          {"max", degrees.most},
          {"sparse", sparse_vertices(degrees, degree)},
          {"histogram", degrees.histogram}};
}

void print_costs(const Manifest& manifest) {
  fmt::print("\n{:<16} {:>18} {:>14} {:>18} {:>12} {:>14}\n", "layout", "record bytes",
             "amplification", "with codes", "total", "DRAM B/vector");
  for (const LayoutKind kind : layouts_of(manifest)) {
    const LayoutCost cost = layout_cost(manifest, kind);
    fmt::print(
        "{:<16} {:>18} {:>13.3f}x {:>18} {:>11.3f}x {:>14.2f}\n",
        fmt::format("{}{}", to_string(kind), kind == manifest.graph().layout ? " (this)" : ""),
        grouped(cost.records_bytes), cost.amplification, grouped(cost.total_bytes()),
        cost.total_amplification, cost.compute_dram_bytes_per_vector);
  }
}

void print_degrees(const layout::DegreeReport& degrees, std::uint32_t degree) {
  fmt::print("\ndegree: min {}, mean {:.2f}, p50 {}, p90 {}, p99 {}, max {}\n", degrees.least,
             degrees.mean, degrees.p50, degrees.p90, degrees.p99, degrees.most);
  fmt::print("vertices with fewer than half of {} edges: {}\n", degree,
             grouped(sparse_vertices(degrees, degree)));
  constexpr std::size_t kRows = 16;
  constexpr std::uint64_t kBarWidth = 50;
  const std::size_t width = (degrees.histogram.size() + kRows - 1) / kRows;
  std::vector<std::uint64_t> rows(kRows);
  for (std::size_t d = 0; d < degrees.histogram.size(); ++d)
    rows[d / width] += degrees.histogram[d];
  const std::uint64_t largest = *std::max_element(rows.begin(), rows.end());
  for (std::size_t row = 0; row * width < degrees.histogram.size(); ++row) {
    const std::size_t last = std::min((row + 1) * width, degrees.histogram.size()) - 1;
    const std::string bar((rows[row] * kBarWidth + largest - 1) / largest, '#');
    const std::string range =
        width == 1 ? std::to_string(last) : fmt::format("{}-{}", row * width, last);
    fmt::print("{:>9} {:>15} {}\n", range, grouped(rows[row]), bar);
  }
}

}  // namespace

GraphInspection::GraphInspection(const layout::IndexDirectory& index, layout::DegreeReport degrees)
    : index_(index), degrees_(std::move(degrees)) {}

std::string GraphInspection::build_words() const {
  const layout::BuildParameters& build = manifest().graph().build;
  const std::string words = fmt::format(
      "degree {}, list {}, alpha {:g}, passes {}, seed {}, code bits {}", build.degree, build.list,
      build.alpha, build.passes, build.seed, indexing::code_bits_words(build.code_bits));
  return build.merges == 0 ? words : fmt::format("{}, merges {}", words, build.merges);
}

void GraphInspection::print_identity() const {
  print_line("entry", grouped(manifest().graph().entry));
  const std::string why = indexing::steering_words(manifest(), kCodeBitsOption);
  if (!why.empty()) print_line("codes", why);
}

void GraphInspection::print() const {
  print_costs(manifest());
  print_pages();
  print_degrees(degrees_, manifest().graph().build.degree);
}

void GraphInspection::add_json(nlohmann::ordered_json& json) const {
  json["degree"] = degrees_to_json(degrees_, manifest().graph().build.degree);
  const std::string why = indexing::steering_words(manifest(), kCodeBitsOption);
  if (!why.empty()) json["code_bits_because"] = why;
  add_pages(json);
  for (const LayoutKind kind : layouts_of(manifest())) {
    json["layouts"][std::string(to_string(kind))] = cost_to_json(layout_cost(manifest(), kind));
  }
}

std::unique_ptr<Inspection> inspect_kind(const layout::IndexDirectory& index,
                                         const layout::GraphDescription& description,
                                         unsigned threads) {
  if (description.slotted) return inspect_pages(index, threads);
  return std::make_unique<GraphInspection>(index, layout::degree_report(index));
}

}  // namespace farvec::cli
