// The command `farvec collection update` gives rows other attributes, and leaves their vectors.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "changes/column_values.h"
#include "changes/distinct_update.h"
#include "cli/collection/changed_ids.h"
#include "cli/collection/collection_change.h"
#include "cli/collection/collection_commands.h"
#include "cli/interrupt.h"
#include "indexing/attributes/assignment.h"
#include "indexing/attributes/attribute_reader.h"

namespace farvec::cli {
namespace {

using changes::ColumnValues;
using changes::Receipt;

struct UpdateArguments : ChangeArguments {
  ChangedRowsArguments rows;
  std::vector<std::string> assignments;
  std::string attributes;
};

void check_values_options(const UpdateArguments& arguments) {
  if (arguments.assignments.empty() == arguments.attributes.empty()) {
    throw Error("give one of --set and --attributes: what the vectors are given");
  }
  if (arguments.attributes.empty() || arguments.rows.filter.empty()) return;
  throw Error(
      "--attributes has values for one vector after the other: give --ids or --range, or --set for "
      "those that meet --filter");
}

/// Reads what the vectors are given: a row for each of `ids`, or one for all.
indexing::ColumnsOfRows read_values(const UpdateArguments& arguments, const layout::Schema& schema,
                                    std::size_t ids) {
  if (schema.empty()) {
    throw Error("the collection has no schema; `farvec collection add-columns` gives it one");
  }
  if (arguments.attributes.empty()) {
    try {
      return indexing::parse_assignments(arguments.assignments, schema);
    } catch (const Error& error) {
      throw Error("--set {}", error.what());
    }
  }
  indexing::ColumnsOfRows read = indexing::read_columns(arguments.attributes, schema);
  if (read.values.count() == ids) return read;
  throw Error("{} has the values of {} vectors for {} ids: it needs those of each, in order",
              arguments.attributes, read.values.count(), ids);
}

/// Gives all ids values, which are a row for each of them.
void update_all_ids(ChangedCollection& collection, ChangedIds& ids, const ColumnValues& update,
                    Progress& progress, Receipt& receipt) {
  changes::Batches batches = collection.batches();
  batches.advanced = [&progress](std::uint64_t updated) { progress.advance(updated); };
  changes::update_all(collection.changes(), ids.take(ids.count()), update, batches, receipt);
}

/// Gives the ids one row, part after part.
void update_in_parts(ChangedCollection& collection, ChangedIds& ids, const ColumnValues& update,
                     Progress& progress, Receipt& receipt) {
  for (;;) {
    const std::vector<std::uint64_t> part = ids.take(collection.changes().row_shape().batch_ids);
    if (part.empty()) return;
    changes::update_all(collection.changes(), part, update, collection.batches(), receipt);
    progress.advance(part.size());
  }
}

Receipt update_ids(ChangedCollection& collection, ChangedIds ids, const ColumnValues& update,
                   bool quiet) {
  Progress progress("updates", ids.count(), quiet);
  return receipt_of([&](Receipt& receipt) {
    const auto updating = update.values.count() == 1 ? update_in_parts : update_all_ids;
    updating(collection, ids, update, progress, receipt);
  });
}

Receipt update_matching(ChangedCollection& collection, const std::string& filter,
                        const ColumnValues& update) {
  return receipt_of([&](Receipt& receipt) {
    collection.changes().update_matching(filter, update, collection.batches().patience, receipt);
  });
}

void update(const UpdateArguments& arguments) {
  check_changed_rows(arguments.rows);
  check_values_options(arguments);
  const InterruptGuard watch;
  const std::string& filter = arguments.rows.filter;
  std::optional<ChangedIds> ids;
  if (filter.empty()) ids.emplace(arguments.rows);
  Change change(arguments);
  const layout::Schema schema = change.collection().changes().row_shape().schema;
  const indexing::ColumnsOfRows values = read_values(arguments, schema, ids ? ids->count() : 1);
  const ColumnValues update{values.names, values.values.view()};
  (void)changes::check_values(update, schema);
  const Receipt receipt =
      ids ? update_ids(change.collection(), std::move(*ids), update, arguments.quiet)
          : update_matching(change.collection(), filter, update);
  change.report("updated", receipt);
}

}  // namespace

void register_collection_update(Command& collection) {
  auto arguments = std::make_shared<UpdateArguments>();
  UpdateArguments& a = *arguments;
  Command command = collection.add_command(
      "update", "Give vectors other attributes, without inserting them again");
  add_change_options(command, a);
  add_changed_rows_options(command, a.rows);
  command
      .add_option(
          "--set", a.assignments,
          "COLUMN = VALUE, for all of these vectors; again for more columns: \"price = 3\".\n"
          "Values are numbers, 'text', true, false, null, '2024-05-01' for a timestamp,\n"
          "and ['a', 'b'] for a set")
      .one_at_a_time();
  command.add_option(
      "--attributes", a.attributes,
      "Values for one id after the other: .jsonl with an object in each line, "
      ".csv with\na header, or a file for each column: price=price.npy,year=year.npy. "
      "The\ncolumns that are there are those that change");
  command.footer(
      "Columns that are not named keep their values, and so do the vectors. A vector has all of "
      "its\n"
      "new values or none. Ids that are not there are counted.\n"
      "Example:\n"
      "  farvec collection update --collection set --range 0:1000 --set \"price = 3\"\n"
      "  farvec collection update --collection set --filter \"section = 'old'\" \\\n"
      "      --set \"section = 'archive'\" --set \"price = null\"\n"
      "  farvec collection update --connect 127.0.0.1:7711 --ids sold.ibin --attributes "
      "sold.jsonl");
  command.callback([arguments, command] {
    check_change_options(command, *arguments);
    update(*arguments);
  });
}

}  // namespace farvec::cli
