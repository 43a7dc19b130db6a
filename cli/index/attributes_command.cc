// The command `farvec attributes` gives the rows of an index that is there attributes.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.h"
#include "cli/index/row_attributes_option.h"
#include "layout/collection/segment_attributes.h"
#include "layout/index/index_directory.h"
#include "measure/report/json_text.h"

namespace farvec::cli {
namespace {

struct AttributesArguments {
  std::string index;
  RowAttributesOption attributes;
  bool json = false;
};

void write_attributes(const AttributesArguments& arguments) {
  const auto index = layout::IndexDirectory::open(arguments.index);
  const layout::Manifest& manifest = index.manifest();
  const ReadAttributes read = read_row_attributes(arguments.attributes, manifest.count);
  read.write(index.path(), manifest);
  const std::uint64_t bytes =
      std::filesystem::file_size(index.path() / layout::kSegmentAttributesFile);
  if (arguments.json) {
    const nlohmann::ordered_json facts{{"index", arguments.index},
                                       {"rows", manifest.count},
                                       {"bytes", bytes},
                                       {"schema", layout::schema_to_json(read.schema)}};
    fmt::print("{}\n", measure::json_text(facts));
  } else {
    fmt::print("{}: {} rows have {} in {} bytes\n", arguments.index, manifest.count,
               to_string(read.schema), bytes);
  }
}

}  // namespace

void register_attributes_command(Command& tool) {
  auto arguments = std::make_shared<AttributesArguments>();
  AttributesArguments& a = *arguments;
  Command command =
      tool.add_command("attributes", "Give the vectors of an index attributes, for filters");
  command.add_option("--index", a.index, "Index directory").required();
  command
      .add_option("--schema", a.attributes.schema,
                  "Columns and their types: 'price: i64, section: string not null, tags: set'")
      .required();
  command
      .add_option("--attributes", a.attributes.file,
                  "A row for each vector, in the order of the vectors: .jsonl with an object in "
                  "each\nline, .csv with a header, or a file for each column, as in\n"
                  "price=price.npy,year=year.npy")
      .required();
  command.add_flag("--json", a.json, "Report as one JSON object");
  command.footer(
      "Attributes that the index has are replaced. What has the index open keeps the former ones.\n"
      "Example:\n"
      "  farvec attributes --index set.index --schema 'price: i64' --attributes base.jsonl\n"
      "  farvec attributes --index set.index --schema 'price: i64' --attributes price=price.npy\n"
      "  farvec search --index set.index --queries query.fbin --filter 'price < 20'");
  command.callback([arguments] { write_attributes(*arguments); });
}

}  // namespace farvec::cli
