// The command `farvec place` decides which memory node holds which part of an index.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/command_line.h"
#include "base/error.h"
#include "base/option_rules.h"
#include "base/quantity.h"
#include "cli/commands.h"
#include "layout/index/file_placement.h"
#include "layout/index/index_directory.h"
#include "layout/index/index_writer.h"
#include "measure/report/json_text.h"

namespace farvec::cli {
namespace {

using layout::Manifest;
using layout::Placement;

struct PlaceArguments {
  std::string directory;
  layout::PlacementOptions options;
  bool json = false;
};

std::optional<Placement> make_placement(const layout::IndexDirectory& index,
                                        const layout::PlacementOptions& options) {
  if (options.nodes == 1 && options.replicas == 1) return std::nullopt;
  const Manifest& manifest = index.manifest();
  if (manifest.is_cluster()) {
    return layout::place_index(manifest, index.load_cluster_locator({}), options);
  }
  return layout::place_index(manifest, index.load_locator({}), options);
}

void print(const Manifest& manifest, const PlaceArguments& arguments) {
  const std::size_t extents =
      manifest.placement ? manifest.placement->regions[layout::kRecordsRegion].extents().size() : 1;
  if (arguments.json) {
    nlohmann::ordered_json json = {{"index", arguments.directory},
                                   {"nodes", manifest.memory_nodes()},
                                   {"replicas", arguments.options.replicas},
                                   {"record_extents", extents}};
    for (std::uint32_t node = 0; node < manifest.memory_nodes(); ++node) {
      json["node_bytes"].push_back(manifest.node_bytes(node));
    }
    fmt::print("{}\n", measure::json_text(json));
    return;
  }
  fmt::print("{}: {} memory nodes, {} copies of each of {} extents of records\n",
             arguments.directory, manifest.memory_nodes(), arguments.options.replicas, extents);
  for (std::uint32_t node = 0; node < manifest.memory_nodes(); ++node) {
    fmt::print("  node {:>4} {:>18} bytes   farvec-memory-node --index {} --node {}\n", node,
               manifest.node_bytes(node), arguments.directory, node);
  }
}

void place(const Command& command, const PlaceArguments& arguments) {
  const bool several = arguments.options.nodes > 1;
  refuse_unused(command,
                std::vector<OptionRule>{
                    {"--extent-bytes", several, "--nodes 2 and more; one node holds everything"}});
  layout::write_placement(arguments.directory, [&](const layout::IndexDirectory& index) {
    return make_placement(index, arguments.options);
  });
  print(layout::IndexDirectory::open(arguments.directory).manifest(), arguments);
}

}  // namespace

void register_place_command(Command& tool) {
  auto arguments = std::make_shared<PlaceArguments>();
  Command command =
      tool.add_command("place", "Decide which memory node holds which part of an index");
  command.add_option("--index", arguments->directory, "Index directory").required();
  command.add_option("--nodes", arguments->options.nodes, "Memory nodes; 1 undoes a placement")
      .required()
      .range(1u, Placement::kMaxNodes);
  command
      .add_option("--replicas", arguments->options.replicas,
                  "Copies of every extent, on as many nodes: each node that may be lost "
                  "needs one more")
      .range(1u, layout::PlacedExtent::kMaxCopies)
      .show_default();
  command
      .add_option("--extent-bytes", arguments->options.extent_bytes,
                  "Bytes of an extent, about, e.g. 16MB or 16MiB; 0: by the size of the index")
      .size()
      .show_default();
  command.add_flag("--json", arguments->json, "One JSON object");
  command.footer(
      "Writes the placement section of the index's manifest; its region files stay as they are.\n"
      "Memory nodes that already serve the index keep the placement they were started with:\n"
      "start them again, all of them, or give all of them an index that was placed with\n"
      "'farvec publish'.\n"
      "Example: half of the index on each of two nodes, and a copy of each half on the other\n"
      "  farvec place --index sift1m.index --nodes 2 --replicas 2\n"
      "  farvec-memory-node --index sift1m.index --node 0 --listen 127.0.0.1:7700 &\n"
      "  farvec-memory-node --index sift1m.index --node 1 --listen 127.0.0.1:7701 &\n"
      "  farvec-compute-node --memory-node 127.0.0.1:7700,127.0.0.1:7701 --tier shm");
  command.callback([arguments, command] { place(command, *arguments); });
}

}  // namespace farvec::cli
