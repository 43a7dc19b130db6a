// farvec inspect: what an index is, what it costs, and whether its bytes are intact.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "base/command_line.h"
#include "cli/commands.h"
#include "layout/cluster/cluster_report.h"
#include "layout/pages/slotted_report.h"
#include "layout/region/index_directory.h"
#include "layout/region/index_report.h"

namespace farvec::cli {
namespace {

using Json = nlohmann::ordered_json;
using layout::LayoutCost;
using layout::LayoutKind;
using layout::Manifest;

struct InspectArguments {
  std::string directory;
  unsigned threads = 0;
  bool json = false;
  bool verify = false;
};

Json cost_to_json(const LayoutCost& cost) {
  return {{"records_bytes", cost.records_bytes},
          {"amplification", cost.amplification},
          {"codes_bytes", cost.codes_bytes},
          {"offsets_bytes", cost.offsets_bytes},
          {"vectors_bytes", cost.vectors_bytes},
          {"total_bytes", cost.total_bytes()},
          {"total_amplification", cost.total_amplification},
          {"compute_dram_bytes_per_vector", cost.compute_dram_bytes_per_vector}};
}

Json degrees_to_json(const layout::DegreeReport& degrees) {
  return {{"min", degrees.least},
          {"mean", degrees.mean},
          {"p50", degrees.p50},
          {"p90", degrees.p90},
          {"p99", degrees.p99},
          {"max", degrees.most},
          {"histogram", degrees.histogram}};
}

/// The manifest as it is on disk, without its long list of checksums.
Json manifest_summary(const Manifest& manifest) {
  Json json = Json::parse(layout::manifest_to_json(manifest));
  for (Json& region : json["regions"]) {
    region["chunks"] = region["xxh3"].size();
    region.erase("xxh3");
  }
  if (manifest.placement) {
    for (Json& region : json["placement"]["regions"]) region["extents"] = region["extents"].size();
    for (std::uint32_t node = 0; node < manifest.memory_nodes(); ++node) {
      json["placement"]["node_bytes"].push_back(manifest.node_bytes(node));
    }
  }
  return json;
}

Json common_json(const layout::IndexDirectory& index, bool verified) {
  Json json = {{"path", index.path().string()}};
  json.update(manifest_summary(index.manifest()));
  json["dataset_bytes"] = index.manifest().dataset_bytes();
  json["verified"] = verified;
  return json;
}

void print_json(const layout::IndexDirectory& index, const layout::DegreeReport& degrees,
                bool verified) {
  Json json = common_json(index, verified);
  json["degree"] = degrees_to_json(degrees);
  for (const LayoutKind kind : {LayoutKind::csr, LayoutKind::padded}) {
    json["layouts"][std::string(to_string(kind))] =
        cost_to_json(layout_cost(index.manifest(), kind));
  }
  fmt::print("{}\n", json.dump());
}

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

Json slotted_to_json(const Manifest& manifest, const layout::SlottedReport& report) {
  const layout::SlottedDescription& slotted = manifest.slotted();
  return {
      {"pages", report.pages},
      {"page_utilisation", report.utilisation()},
      {"fragmentation", report.fragmentation()},
      {"records_per_page", report.records_per_page()},
      {"records_per_page_min", report.least_records},
      {"records_per_page_max", report.most_records},
      {"header_bytes", report.header_bytes},
      {"slot_bytes", report.slot_bytes},
      {"payload_bytes", report.payload_bytes},
      {"neighbor_bytes", report.neighbor_bytes},
      {"free_bytes", report.free_bytes},
      {"colored_records", report.colored},
      {"overlap", report.overlap},
      {"affine_pairs_together_share", share(slotted.affine_pairs_together, slotted.affine_pairs)}};
}

void print_json(const layout::IndexDirectory& index, const layout::SlottedReport& report,
                bool verified) {
  const Manifest& manifest = index.manifest();
  Json json = common_json(index, verified);
  json["degree"] = degrees_to_json(report.degree);
  json["slotted"] = slotted_to_json(manifest, report);
  for (const LayoutKind kind : {LayoutKind::csr, LayoutKind::padded, LayoutKind::slotted}) {
    json["layouts"][std::string(to_string(kind))] = cost_to_json(layout_cost(manifest, kind));
  }
  fmt::print("{}\n", json.dump());
}

Json sizes_to_json(const layout::SizeReport& sizes) {
  return {{"min", sizes.least}, {"mean", sizes.mean}, {"p50", sizes.p50},
          {"p90", sizes.p90},   {"p99", sizes.p99},   {"max", sizes.most}};
}

void print_json(const layout::IndexDirectory& index, const layout::ClusterReport& report,
                bool verified) {
  Json json = common_json(index, verified);
  json["amplification"] = report.amplification;
  json["coupled_amplification"] = report.coupled_amplification;
  json["total_amplification"] = report.total_amplification;
  json["compute_dram_bytes_per_vector"] = report.compute_dram_bytes_per_vector;
  json["clusters_per_vector"] = report.clusters_per_vector;
  json["stray_share"] = report.stray_share;
  json["empty_clusters"] = report.empty_clusters;
  json["members"] = sizes_to_json(report.members);
  json["groups"] = sizes_to_json(report.groups);
  json["strays"] = sizes_to_json(report.strays);
  fmt::print("{}\n", json.dump());
}

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

void print_line(const char* name, const std::string& value) {
  fmt::print("{:<12} {}\n", name, value);
}

std::string build_words(const layout::GraphPart& part) {
  const layout::BuildParameters& build = part.build;
  return fmt::format("degree {}, list {}, alpha {:g}, passes {}, seed {}, code bits {}",
                     build.degree, build.list, build.alpha, build.passes, build.seed,
                     build.code_bits);
}

std::string build_words(const layout::ClusterPart& part) {
  const layout::ClusterBuildParameters& build = part.build;
  return fmt::format(
      "{} clusters, replicas {}, closure ratio {:g}, balance {:g}, sample {}, seed {}",
      grouped(part.geometry.clusters), build.replicas, build.closure_ratio, build.balance,
      grouped(build.sample), build.seed);
}

void print_identity(const layout::IndexDirectory& index) {
  const Manifest& m = index.manifest();
  print_line("index", index.path().string());
  print_line("kind", fmt::format("{}, {} layout, format version {}{}", to_string(m.kind()),
                                 m.layout_name(), layout::kFormatVersion,
                                 m.has_record_checksums() ? ", record checksums" : ""));
  print_line("vectors", fmt::format("{} x {} {} (from {}){}, metric {}", grouped(m.count),
                                    m.dimension, to_string(m.stored_type), to_string(m.source_type),
                                    m.normalised ? ", normalised" : "", to_string(m.metric)));
  print_line("data set", fmt::format("{} ({}), {} bytes, xxh3 {:016x} of {} rows", m.dataset.name,
                                     m.dataset.file, grouped(m.dataset_bytes()), m.dataset.xxh3,
                                     grouped(m.dataset.rows_hashed)));
  print_line("build", std::visit([](const auto& part) { return build_words(part); }, m.part));
  print_line("built by", fmt::format("farvec {} ({})", m.farvec_version, m.farvec_commit));
  if (m.is_graph()) print_line("entry", grouped(m.graph().entry));
}

void print_regions(const Manifest& manifest) {
  fmt::print("\n{:<16} {:>18} {:>8}\n", "region", "bytes", "chunks");
  for (const layout::RegionEntry& region : manifest.regions) {
    fmt::print("{:<16} {:>18} {:>8}\n", region.file, grouped(region.file_bytes()),
               grouped(region.checksums.size()));
  }
}

void print_placement(const Manifest& manifest) {
  if (!manifest.placement) return;
  const layout::Placement& placement = *manifest.placement;
  fmt::print("\nplaced on {} memory nodes, {} copies of each of {} extents of records\n",
             placement.nodes, placement.replicas,
             placement.regions[layout::kRecordsRegion].extents().size());
  for (std::uint32_t node = 0; node < placement.nodes; ++node) {
    fmt::print("{:<16} {:>18}\n", fmt::format("node {}", node),
               grouped(placement.node_bytes(node)));
  }
}

void print_costs(const Manifest& manifest) {
  fmt::print("\n{:<16} {:>18} {:>14} {:>18} {:>12} {:>14}\n", "layout", "record bytes",
             "amplification", "with codes", "total", "DRAM B/vector");
  for (const LayoutKind kind : {LayoutKind::csr, LayoutKind::padded, LayoutKind::slotted}) {
    if (kind == LayoutKind::slotted && !manifest.is_slotted()) continue;
    const LayoutCost cost = layout_cost(manifest, kind);
    fmt::print(
        "{:<16} {:>18} {:>13.3f}x {:>18} {:>11.3f}x {:>14.2f}\n",
        fmt::format("{}{}", to_string(kind), kind == manifest.graph().layout ? " (this)" : ""),
        grouped(cost.records_bytes), cost.amplification, grouped(cost.total_bytes()),
        cost.total_amplification, cost.compute_dram_bytes_per_vector);
  }
}

void print_degrees(const layout::DegreeReport& degrees) {
  fmt::print("\ndegree: min {}, mean {:.2f}, p50 {}, p90 {}, p99 {}, max {}\n", degrees.least,
             degrees.mean, degrees.p50, degrees.p90, degrees.p99, degrees.most);
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

void print_bytes(const char* name, std::uint64_t bytes, const layout::SlottedReport& report) {
  fmt::print("{:<16} {:>18} {:>7.2f}% {:>10.1f}\n", name, grouped(bytes),
             100 * share(bytes, report.bytes()),
             static_cast<double>(bytes) / static_cast<double>(report.records));
}

void print_pages(const Manifest& manifest, const layout::SlottedReport& report) {
  const layout::SlottedDescription& slotted = manifest.slotted();
  fmt::print(
      "\n{} pages of {} bytes, placement {}: {:.2f}% used, {:.2f}% fragmentation,\n"
      "{:.2f} records per page ({} to {})\n",
      grouped(report.pages), manifest.graph().block_bytes, slotted.placement,
      100 * report.utilisation(), 100 * report.fragmentation(), report.records_per_page(),
      report.least_records, report.most_records);
  fmt::print(
      "{:.2f}% of {} affine pairs share a page, {:.2f}% of records are colored; overlap of pages "
      "and neighbours OR(G) {:.4f}\n",
      100 * share(slotted.affine_pairs_together, slotted.affine_pairs),
      grouped(slotted.affine_pairs), 100 * share(report.colored, report.records), report.overlap);
  fmt::print("\n{:<16} {:>18} {:>8} {:>10}\n", "of all pages", "bytes", "share", "B/vector");
  print_bytes("headers", report.header_bytes, report);
  print_bytes("slots", report.slot_bytes, report);
  print_bytes(slotted.payload == layout::PayloadKind::code ? "extensions" : "vectors",
              report.payload_bytes, report);
  print_bytes("neighbours", report.neighbor_bytes, report);
  print_bytes("free", report.free_bytes, report);
}

void print_sizes(const char* name, const layout::SizeReport& sizes) {
  fmt::print("{:<16} {:>10} {:>10.1f} {:>10} {:>10} {:>10} {:>10}\n", name, sizes.least, sizes.mean,
             sizes.p50, sizes.p90, sizes.p99, sizes.most);
}

void print_report(const Manifest& manifest, const layout::ClusterReport& report) {
  fmt::print(
      "\nrecords {:.3f} times the data (coupled: {:.3f}), with centroids and table {:.3f};\n"
      "{:.2f} bytes of compute DRAM per vector\n",
      report.amplification, report.coupled_amplification, report.total_amplification,
      report.compute_dram_bytes_per_vector);
  fmt::print("\n{:<16} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "per cluster", "min", "mean",
             "p50", "p90", "p99", "max");
  print_sizes("members", report.members);
  print_sizes("in its group", report.groups);
  print_sizes("strays", report.strays);
  fmt::print("{:.1f}% of all members are strays; {} clusters are empty\n", 100 * report.stray_share,
             report.empty_clusters);
  fmt::print("\nevery vector is in {:.2f} clusters on average\n", report.clusters_per_vector);
  const auto& replication = manifest.cluster().replication;
  for (std::size_t i = 0; i < replication.size(); ++i) {
    if (replication[i] == 0) continue;
    fmt::print("{:>9} {:>15}\n", i + 1, grouped(replication[i]));
  }
}

void print_common(const layout::IndexDirectory& index) {
  print_identity(index);
  print_regions(index.manifest());
  print_placement(index.manifest());
}

void inspect_graph(const layout::IndexDirectory& index, const InspectArguments& arguments) {
  const auto degrees = layout::degree_report(index.load_offset_table({.quiet = true}));
  if (arguments.json) return print_json(index, degrees, arguments.verify);
  print_common(index);
  print_costs(index.manifest());
  print_degrees(degrees);
}

void inspect_slotted(const layout::IndexDirectory& index, const InspectArguments& arguments) {
  const auto report = layout::slotted_report(index, {.threads = arguments.threads, .quiet = true});
  if (arguments.json) return print_json(index, report, arguments.verify);
  print_common(index);
  print_costs(index.manifest());
  print_pages(index.manifest(), report);
  print_degrees(report.degree);
}

void inspect_clusters(const layout::IndexDirectory& index, const InspectArguments& arguments) {
  const auto report =
      layout::cluster_report(index.manifest(), index.load_cluster_locator({.quiet = true}));
  if (arguments.json) return print_json(index, report, arguments.verify);
  print_common(index);
  print_report(index.manifest(), report);
}

void inspect(const InspectArguments& arguments) {
  const auto index = layout::IndexDirectory::open(arguments.directory);
  if (arguments.verify) index.verify({.threads = arguments.threads});
  if (index.manifest().is_slotted()) {
    inspect_slotted(index, arguments);
  } else if (index.manifest().is_graph()) {
    inspect_graph(index, arguments);
  } else {
    inspect_clusters(index, arguments);
  }
  if (arguments.verify && !arguments.json) fmt::print("\nverified: every checksum matches\n");
}

}  // namespace

void register_inspect_command(Command& tool) {
  auto arguments = std::make_shared<InspectArguments>();
  Command command = tool.add_command("inspect", "Show what an index is and what it costs");
  command.add_option("index", arguments->directory, "Index directory").required();
  command.add_flag("--json", arguments->json, "One JSON object");
  command.add_flag("--verify", arguments->verify, "Read everything and compare every checksum");
  command.add_option("--threads", arguments->threads, "Threads that verify; 0: one per processor");
  command.footer(
      "Amplification is the bytes of the records, which lie on the memory node, over the bytes of\n"
      "the data set's vectors; \"total\" adds codes and offsets. Both layouts of a graph are "
      "shown,\n"
      "whichever the index has; slotted pages are read, and counted, whole. Strays are members "
      "that a cluster has by their address.\n"
      "Example:\n  farvec inspect sift1m.index --verify");
  command.callback([arguments] { inspect(*arguments); });
}

}  // namespace farvec::cli
