#include "cli/runbook/runbook_attributes.h"

#include "attributes/tenant.h"
#include "base/error.h"
#include "indexing/attributes/attribute_reader.h"

namespace farvec::cli {

void add_attribute_options(Command& command, RunbookAttributes& attributes, std::string& filter) {
  command.add_option("--schema", attributes.schema,
                     "collection: columns of attributes, \"price: i64, tags: set\"");
  command.add_option(
      "--attributes", attributes.file,
      "collection, --connect: file with the attributes of each row of --data: .jsonl,\n"
      ".csv, or price=price.npy,year=year.npy");
  command.add_option(
      "--filter", filter,
      "collection, --connect: condition that the results of all searches meet; true\n"
      "neighbours are then found among the rows that meet it");
}

layout::Schema schema_of(const RunbookAttributes& attributes) {
  try {
    return layout::parse_schema(attributes.schema);
  } catch (const Error& error) {
    throw Error("--schema: {}", error.what());
  }
}

layout::Tuples read_attributes(const RunbookAttributes& attributes, const layout::Schema& schema,
                               std::size_t rows) {
  if (attributes.file.empty()) return {};
  if (schema.empty()) {
    throw Error("--attributes: the collection has no schema (a new one gets it by --schema)");
  }
  layout::Tuples tuples = indexing::read_attributes(attributes.file, schema);
  indexing::require_rows(tuples, rows, attributes.file);
  return tuples;
}

void require_useful(const attributes::Condition* condition, const layout::Schema& schema,
                    const layout::TupleView& attributes, std::size_t rows) {
  const Status named = attributes::require_tenants(schema, condition);
  if (!named.ok()) throw Error("--filter: {}", named.message());
  if (condition == nullptr) return;
  for (std::size_t row = 0; row < rows; ++row) {
    const layout::Tuple tuple(attributes.count() > 0 ? attributes.row(row) : layout::null_tuple());
    if (evaluate(*condition, tuple, row) == attributes::Truth::yes) return;
  }
  throw Error("--filter: no row of --data meets it");
}

}  // namespace farvec::cli
