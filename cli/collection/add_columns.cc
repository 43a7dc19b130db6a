// The command `farvec collection add-columns` gives the rows of a collection more attributes.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "cli/collection/collection_change.h"
#include "cli/collection/collection_commands.h"
#include "cli/interrupt.h"
#include "layout/attributes/schema.h"
#include "measure/report/json_text.h"

namespace farvec::cli {
namespace {

struct ColumnArguments : ChangeArguments {
  std::string columns;
};

layout::Schema columns_of(const ColumnArguments& arguments) {
  try {
    return layout::parse_schema(arguments.columns);
  } catch (const Error& error) {
    throw Error("--columns: {}", error.what());
  }
}

void add_columns(const ColumnArguments& arguments) {
  const InterruptGuard watch;
  const layout::Schema columns = columns_of(arguments);
  Change change(arguments);
  changes::Changing& collection = change.collection().changes();
  collection.add_columns(columns);
  const layout::Schema schema = collection.newest_schema();
  if (arguments.json) {
    const nlohmann::ordered_json facts{{"collection", change.name()},
                                       {"added", columns.size()},
                                       {"schema", layout::schema_to_json(schema)}};
    fmt::print("{}\n", measure::json_text(facts));
  } else {
    fmt::print("added {} columns; the schema is {}\n", columns.size(), to_string(schema));
  }
}

}  // namespace

void register_collection_add_columns(Command& collection) {
  auto arguments = std::make_shared<ColumnArguments>();
  ColumnArguments& a = *arguments;
  Command command = collection.add_command(
      "add-columns", "Add attributes to the schema; rows that are there are null in them");
  add_change_options(command, a);
  command
      .add_option("--columns", a.columns,
                  "Columns as create --schema has them: 'rating: f64, tags: set'. None may be "
                  "`not null`")
      .required();
  command.footer(
      "Searches and inserts go on meanwhile. A collection that has no schema gets one.\n"
      "Example:\n  farvec collection add-columns --collection set --columns 'rating: f64'");
  command.callback([arguments, command] {
    check_change_options(command, *arguments);
    add_columns(*arguments);
  });
}

}  // namespace farvec::cli
