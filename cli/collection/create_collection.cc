// The command `farvec collection create` makes an empty collection.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "cli/collection/collection_commands.h"
#include "cli/collection/collection_options.h"
#include "dataset/vector_file.h"
#include "measure/report/json_text.h"

namespace farvec::cli {
namespace {

struct CreateArguments {
  std::string folder;
  CollectionShape shape;
  std::string like;
  bool json = false;
};

void create(const Command& command, CreateArguments arguments) {
  CollectionShape& shape = arguments.shape;
  const bool said = shape.dimension != 0 && !shape.type.empty();
  if (arguments.like.empty() && !said) {
    throw Error("say --type and --dimension, or --like FILE for those of a vector file");
  }
  if (!arguments.like.empty()) {
    const auto file = dataset::open_vectors(arguments.like);
    shape.dimension = file->info().dimension;
    shape.type = to_string(file->info().type);
  }
  const layout::CollectionManifest manifest = shape_manifest(command, shape);
  collection::Collection::create(arguments.folder, manifest, layout::as_tool_option);
  if (arguments.json) {
    nlohmann::ordered_json json{{"collection", arguments.folder}};
    json.update(collection::shape_json(manifest));
    fmt::print("{}\n", measure::json_text(json));
  } else {
    fmt::print("{}: an empty collection of {} x {}, {}\n", arguments.folder, manifest.dimension,
               to_string(manifest.source_type), to_string(manifest.metric));
  }
}

}  // namespace

void register_collection_create(Command& collection) {
  auto arguments = std::make_shared<CreateArguments>();
  CreateArguments& a = *arguments;
  Command command = collection.add_command("create", "Make an empty collection");
  command.add_option("--collection", a.folder, "Folder to make").required();
  Option like =
      command.add_option("--like", a.like, "Vector file whose type and dimension it takes");
  command.add_option("--type", a.shape.type, "Type of the vectors: f32, f16, u8, i8 or b1 (bits)")
      .excludes(like);
  command.add_option("--dimension", a.shape.dimension, "Elements of a vector")
      .range(1u, kMaxBits)
      .excludes(like);
  command.add_option("--schema", a.shape.schema,
                     "Attributes of the rows, with their types: 'price: i64, section: string,\n"
                     "tags: set'. Types are u64, i64, f64, bool, timestamp, string, set and bytes");
  add_shape_options(command, a.shape);
  command.add_flag("--json", a.json, "Report as one JSON object");
  command.footer(
      "Examples:\n  farvec collection create --collection set --metric cosine --type f32 \\\n"
      "    --dimension 384\n"
      "  farvec collection create --collection set --metric l2 --like base.u8bin \\\n"
      "    --kind cluster --cluster-bytes 8KiB --replicas 8\n"
      "  farvec collection create --collection set --type f32 --dimension 384 --metric cosine \\\n"
      "    --schema 'price: i64, section: string not null, tags: set'");
  command.callback([arguments, command] { create(command, *arguments); });
}

}  // namespace farvec::cli
