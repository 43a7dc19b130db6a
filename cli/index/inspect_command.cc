// The command `farvec inspect` says what an index is, what it costs, and whether its bytes are
// intact.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "base/command_line.h"
#include "cli/commands.h"
#include "cli/hnsw/page_options.h"
#include "cli/index/hnsw_inspection.h"
#include "cli/index/inspection.h"
#include "layout/collection/index_attributes.h"
#include "layout/collection/segment_attributes.h"
#include "layout/index/index_directory.h"
#include "layout/index/second_copy.h"
#include "measure/report/json_text.h"

namespace farvec::cli {
namespace {

using Json = nlohmann::ordered_json;
using layout::Manifest;

struct InspectArguments {
  std::string directory;
  unsigned threads = 0;
  bool json = false;
  bool verify = false;
  bool quiet = false;
};

/// Returns the manifest that is on disk, without its long list of checksums.
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

std::uintmax_t attribute_bytes(const layout::IndexDirectory& index) {
  return std::filesystem::file_size(index.path() / layout::kSegmentAttributesFile);
}

Json second_json(const layout::IndexDirectory& index) {
  const layout::SecondCopyFile second(index.path(), index.manifest());
  const layout::SecondCopyFacts& facts = second.facts();
  return {{"metric", to_string(facts.metric)},
          {"source_type", to_string(facts.source_type)},
          {"type", to_string(facts.type)},
          {"reduction", facts.reduction == layout::ReductionKind::bits ? "bits" : "rounded"},
          {"bytes", second.geometry().file_bytes()}};
}

Json common_json(const layout::IndexDirectory& index, bool verified) {
  Json json = {{"path", index.path().string()}};
  json.update(manifest_summary(index.manifest()));
  json["dataset_bytes"] = index.manifest().dataset_bytes();
  json["verified"] = verified;
  if (const auto schema = layout::read_index_schema(index.path(), index.manifest())) {
    json["schema"] = layout::schema_to_json(*schema);
    json["attribute_bytes"] = attribute_bytes(index);
  }
  if (index.manifest().second_copy) json["second"] = second_json(index);
  return json;
}

void print_second(const layout::IndexDirectory& index) {
  if (!index.manifest().second_copy) return;
  const layout::SecondCopyFile second(index.path(), index.manifest());
  const layout::SecondCopyFacts& facts = second.facts();
  print_line("second copy", fmt::format("{} from {}, metric {}, {} bytes", to_string(facts.type),
                                        to_string(facts.source_type), to_string(facts.metric),
                                        grouped(second.geometry().file_bytes())));
}

void print_identity(const layout::IndexDirectory& index, const Inspection& own) {
  const Manifest& m = index.manifest();
  print_line("index", index.path().string());
  print_line("kind", fmt::format("{}, {} layout, format version {}{}", to_string(m.kind()),
                                 m.layout_name(), layout::kFormatVersion,
                                 m.has_record_checksums() ? ", record checksums" : ""));
  print_line("vectors", fmt::format("{} x {} {} (from {}){}, metric {}", grouped(m.count),
                                    m.dimension, to_string(m.stored_type), to_string(m.source_type),
                                    m.normalised() ? ", normalised" : "", to_string(m.metric)));
  print_second(index);
  print_line("data set", fmt::format("{} ({}), {} bytes, xxh3 {:016x} of {} rows", m.dataset.name,
                                     m.dataset.file, grouped(m.dataset_bytes()), m.dataset.xxh3,
                                     grouped(m.dataset.rows_hashed)));
  print_line("build", own.build_words());
  print_line("built by", fmt::format("farvec {} ({})", m.farvec_version, m.farvec_commit));
  if (const auto schema = layout::read_index_schema(index.path(), m)) {
    print_line("attributes",
               fmt::format("{}, {} bytes", to_string(*schema), grouped(attribute_bytes(index))));
  }
  own.print_identity();
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

void print(const layout::IndexDirectory& index, const Inspection& own) {
  print_identity(index, own);
  print_regions(index.manifest());
  print_placement(index.manifest());
  own.print();
}

void print_json(const layout::IndexDirectory& index, const Inspection& own, bool verified) {
  Json json = common_json(index, verified);
  own.add_json(json);
  fmt::print("{}\n", measure::json_text(json));
}

void verify(const layout::IndexDirectory& index, const InspectArguments& arguments) {
  index.verify({.threads = arguments.threads, .quiet = arguments.quiet});
  if (index.manifest().second_copy) {
    layout::SecondCopyFile(index.path(), index.manifest()).verify();
  }
  const Manifest& manifest = index.manifest();
  const auto schema = layout::read_index_schema(index.path(), manifest);
  if (!schema) return;
  const layout::SegmentAttributesFile file(index.path() / layout::kSegmentAttributesFile,
                                           layout::attributes_entry(manifest));
  (void)file.read(*schema);
}

void inspect(const InspectArguments& arguments) {
  if (paged::is_hnsw(arguments.directory)) {
    return inspect_hnsw(arguments.directory, {arguments.json, arguments.verify, arguments.quiet});
  }
  const auto index = layout::IndexDirectory::open(arguments.directory);
  if (arguments.verify) verify(index, arguments);
  const std::unique_ptr<Inspection> own = std::visit(
      [&](const auto& description) { return inspect_kind(index, description, arguments.threads); },
      index.manifest().description);
  if (arguments.json) return print_json(index, *own, arguments.verify);
  print(index, *own);
  if (arguments.verify) fmt::print("\nverified: every checksum matches\n");
}

}  // namespace

void register_inspect_command(Command& tool) {
  auto arguments = std::make_shared<InspectArguments>();
  Command command = tool.add_command("inspect", "Show what an index is and what it costs");
  command.add_option("index", arguments->directory, "Index directory").required();
  command.add_flag("--json", arguments->json, "One JSON object");
  command.add_flag("--verify", arguments->verify, "Read everything and compare every checksum");
  command.add_option("--threads", arguments->threads, "Threads that verify; 0: one per processor");
  command.add_flag("--quiet", arguments->quiet, "No progress of --verify");
  command.footer(
      "Amplification is the bytes of the records, which lie on the memory node, over the bytes of\n"
      "the data set's vectors; \"total\" adds codes and offsets. csr and padded are shown of a\n"
      "graph that has either, or slotted pages, which are read, and counted, whole; an inline "
      "graph\n"
      "is shown alone, for its codes are in its records. Strays are members that a cluster has by\n"
      "their address.\n"
      "On an HNSW graph on pages --verify reads every page and looks whether every edge, id and\n"
      "count agrees with the others.\n"
      "Example:\n  farvec inspect sift1m.index --verify");
  command.callback([arguments] { inspect(*arguments); });
}

}  // namespace farvec::cli
