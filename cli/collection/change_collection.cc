// The commands `farvec collection insert`, `delete` and `compact` change a collection.
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "cli/collection/changed_ids.h"
#include "cli/collection/collection_change.h"
#include "cli/collection/collection_commands.h"
#include "cli/interrupt.h"
#include "dataset/vector_set.h"
#include "indexing/attributes/attribute_reader.h"
#include "measure/report/row_range.h"

namespace farvec::cli {
namespace {

using changes::Receipt;

struct InsertArguments : ChangeArguments {
  std::string data;
  std::string index;
  std::string range;
  std::string attributes;
  std::uint64_t first_id = 0;
  bool import = false;
};

struct DeleteArguments : ChangeArguments {
  ChangedRowsArguments rows;
};

Receipt insert_rows(ChangedCollection& collection, const changes::RowBatch& rows, bool quiet) {
  Progress progress("inserts", rows.ids.size(), quiet);
  changes::Batches batches = collection.batches();
  batches.advanced = [&progress](std::uint64_t inserted) { progress.advance(inserted); };
  return receipt_of(
      [&](Receipt& receipt) { changes::insert_all(collection.changes(), rows, batches, receipt); });
}

/// Reads the attributes of all `rows` rows of the vector file.
layout::Tuples read_attributes(const InsertArguments& arguments, Change& change, std::size_t rows) {
  const layout::Schema schema = change.collection().changes().row_shape().schema;
  if (schema.empty()) {
    throw Error(
        "--attributes: the collection has no schema; `farvec collection add-columns` gives it one");
  }
  layout::Tuples attributes = indexing::read_attributes(arguments.attributes, schema);
  indexing::require_rows(attributes, rows, arguments.attributes);
  return attributes;
}

void insert_index(const InsertArguments& arguments) {
  const InterruptGuard watch;
  Change change(arguments);
  Receipt receipt;
  change.watched(
      [&] { receipt = change.collection().import_index(arguments.index, arguments.first_id); });
  change.report("inserted", receipt);
}

void insert(const InsertArguments& arguments) {
  if (arguments.data.empty() == arguments.index.empty()) {
    throw Error("give one of --data and --index");
  }
  if (!arguments.index.empty()) return insert_index(arguments);
  const InterruptGuard watch;
  const dataset::VectorSet file = dataset::load(arguments.data);
  const measure::RowRange range = measure::parse_range(arguments.range, file.count(), "--range");
  if (arguments.first_id > std::numeric_limits<std::uint64_t>::max() - file.count()) {
    throw Error("--first-id {}: the last row's id would have more than 64 bits",
                arguments.first_id);
  }
  const VectorView rows = measure::rows_in(file.view(), range);
  const std::vector<std::uint64_t> ids =
      numbered(arguments.first_id + range.begin, range.end - range.begin);
  Change change(arguments);
  layout::Tuples attributes;
  changes::RowBatch batch{rows, ids};
  if (!arguments.attributes.empty()) {
    attributes = read_attributes(arguments, change, file.count());
    batch.attributes = attributes.view().part(range.begin, ids.size());
  }
  change.collection().changes().check(batch);
  Receipt receipt;
  if (arguments.import) {
    change.watched([&] { receipt = change.collection().import(batch); });
  } else {
    receipt = insert_rows(change.collection(), batch, arguments.quiet);
  }
  change.report("inserted", receipt);
}

Receipt erase_ids(ChangedCollection& collection, ChangedIds ids, bool quiet) {
  Progress progress("deletes", ids.count(), quiet);
  return receipt_of([&](Receipt& receipt) {
    for (;;) {
      const std::vector<std::uint64_t> part = ids.take(collection.changes().row_shape().batch_ids);
      if (part.empty()) return;
      changes::erase_all(collection.changes(), part, collection.batches(), receipt);
      progress.advance(part.size());
    }
  });
}

Receipt erase_matching(ChangedCollection& collection, const std::string& filter) {
  return receipt_of([&](Receipt& receipt) {
    collection.changes().erase_matching(filter, collection.batches().patience, receipt);
  });
}

void erase(const DeleteArguments& arguments) {
  check_changed_rows(arguments.rows);
  const InterruptGuard watch;
  const std::string& filter = arguments.rows.filter;
  if (!filter.empty()) {
    Change change(arguments);
    return change.report("deleted", erase_matching(change.collection(), filter));
  }
  ChangedIds ids(arguments.rows);
  Change change(arguments);
  change.report("deleted", erase_ids(change.collection(), std::move(ids), arguments.quiet));
}

void compact(const ChangeArguments& arguments) {
  const InterruptGuard watch;
  Change change(arguments);
  change.watched([&] { (void)change.collection().changes().compact(interrupted); });
  Receipt receipt;
  receipt.done = change.collection().changes().now().at("vectors").get<std::uint64_t>();
  change.report("compacted", receipt);
}

}  // namespace

void register_collection_insert(Command& collection) {
  auto arguments = std::make_shared<InsertArguments>();
  InsertArguments& a = *arguments;
  Command command =
      collection.add_command("insert", "Insert vectors, or replace those that have the ids");
  add_change_options(command, a);
  Option data = command.add_option("--data", a.data, "Vector file");
  command
      .add_option("--attributes", a.attributes,
                  "Attributes of the file's rows: .jsonl with an object in each line, .csv "
                  "with\na header, or a file for each column: price=price.npy,year=year.npy")
      .needs(data);
  command.add_option("--range", a.range, "A:B, rows of the file [all]").needs(data);
  command.add_option("--first-id", a.first_id, "Id of row 0; the others follow").show_default();
  command
      .add_flag("--import", a.import,
                "Make one segment of all rows at once, past the log: for many")
      .needs(data);
  command.add_option("--index", a.index,
                     "In place of --data: an index that `farvec build` has made, of the "
                     "collection's type,\nmetric and layout; a copy of it becomes a segment, with "
                     "its attributes");
  command.footer(
      "A vector is found as soon as it is in. Segments are built and merged meanwhile; the "
      "command\n"
      "ends when that is done. What was acknowledged survives a kill.\n"
      "Example:\n  farvec collection insert --collection set --data new.fbin --first-id 1000000\n"
      "  farvec collection insert --connect 127.0.0.1:7711 --data new.fbin --first-id 1000000\n"
      "  farvec collection insert --collection set --data new.fbin --attributes new.jsonl\n"
      "  farvec collection insert --collection set --index built.index");
  command.callback([arguments, command] {
    check_change_options(command, *arguments);
    insert(*arguments);
  });
}

void register_collection_delete(Command& collection) {
  auto arguments = std::make_shared<DeleteArguments>();
  DeleteArguments& a = *arguments;
  Command command =
      collection.add_command("delete", "Delete vectors by their ids, or by a condition");
  add_change_options(command, a);
  add_changed_rows_options(command, a.rows);
  command.footer(
      "Ids that are not there are counted. Merges give the room back.\n"
      "Example:\n  farvec collection delete --collection set --range 0:1000\n"
      "  farvec collection delete --collection set --filter \"section = 'old' or price > 1000\"");
  command.callback([arguments, command] {
    check_change_options(command, *arguments);
    erase(*arguments);
  });
}

void register_collection_compact(Command& collection) {
  auto arguments = std::make_shared<ChangeArguments>();
  ChangeArguments& a = *arguments;
  Command command = collection.add_command(
      "compact", "Merge everything into one segment without deleted vectors");
  add_change_options(command, a);
  command.footer("Example:\n  farvec collection compact --collection set");
  command.callback([arguments, command] {
    check_change_options(command, *arguments);
    compact(*arguments);
  });
}

}  // namespace farvec::cli
