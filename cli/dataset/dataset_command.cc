#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/command_line.h"
#include "cli/commands.h"
#include "cli/dataset/dataset_commands.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_file.h"
#include "measure/report/json_text.h"

namespace farvec::cli {
namespace {

struct InfoArguments {
  std::string path;
  bool json = false;
};

nlohmann::ordered_json describe_vectors(const std::string& path) {
  const auto reader = dataset::open_vectors(path);
  const dataset::VectorFileInfo& info = reader->info();
  nlohmann::ordered_json facts{{"path", path},
                               {"kind", "vectors"},
                               {"format", info.format},
                               {"count", info.count},
                               {"dimension", info.dimension},
                               {"type", to_string(info.type)},
                               {"file_bytes", info.file_bytes},
                               {"vector_bytes", info.count * info.row_bytes()}};
  if (!info.metric.empty()) facts["metric"] = info.metric;
  return facts;
}

nlohmann::ordered_json describe_groundtruth(const std::string& path) {
  const auto truth = dataset::read_groundtruth(path);
  return {{"path", path},
          {"kind", "groundtruth"},
          {"queries", truth.queries},
          {"k", truth.k},
          {"distances", truth.has_distances()}};
}

void print_info(const InfoArguments& arguments) {
  const auto facts = dataset::is_groundtruth_name(arguments.path)
                         ? describe_groundtruth(arguments.path)
                         : describe_vectors(arguments.path);
  if (arguments.json) {
    fmt::print("{}\n", measure::json_text(facts));
    return;
  }
  for (const auto& [key, value] : facts.items()) {
    fmt::print("{:<13} {}\n", key,
               value.is_string() ? value.get<std::string>() : measure::json_text(value));
  }
}

}  // namespace

void register_dataset_info(Command& dataset) {
  auto arguments = std::make_shared<InfoArguments>();
  Command info = dataset.add_command("info", "Print what a file holds, after checking it");
  info.add_option("file", arguments->path, "Vectors, or ground truth (.ibin .ivecs)").required();
  info.add_flag("--json", arguments->json, "One JSON object");
  info.footer("Example:\n  farvec dataset info --json base.u8bin");
  info.callback([arguments] { print_info(*arguments); });
}

void register_dataset_command(Command& tool) {
  Command dataset = tool.add_command("dataset", "Look at, convert and sample vector files");
  dataset.require_command();
  dataset.footer(
      "Formats: .fbin .f16bin .u8bin .i8bin .b1bin, .fvecs .bvecs, .npy, ann-benchmarks .hdf5\n"
      "(FILE:train, FILE:test), IDX (.gz -ubyte .idx, read only); ground truth .ibin .ivecs.");
  register_dataset_info(dataset);
  register_dataset_convert(dataset);
  register_dataset_sample(dataset);
  register_dataset_groundtruth(dataset);
}

}  // namespace farvec::cli
