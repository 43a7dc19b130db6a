#include "cli/index/row_attributes_option.h"

#include "base/error.h"
#include "indexing/attributes/attribute_reader.h"
#include "layout/collection/index_attributes.h"

namespace farvec::cli {
namespace {

layout::Schema schema_of(const std::string& text) {
  try {
    layout::Schema schema = layout::parse_schema(text);
    if (schema.empty()) throw Error("no columns came");
    return schema;
  } catch (const Error& error) {
    throw Error("--schema: {}", error.what());
  }
}

}  // namespace

void add_row_attributes(Command& command, RowAttributesOption& option) {
  command.add_option(
      "--schema", option.schema,
      "Attributes of the vectors, which searches may ask for: 'price: i64, tags: set'");
  command.add_option(
      "--attributes", option.file,
      "With --schema: the attributes of each vector of --data, in order; .jsonl with "
      "an\nobject in each line, .csv with a header, or a file for each column, as in\n"
      "price=price.npy,year=year.npy");
}

void ReadAttributes::write(const std::filesystem::path& index,
                           const layout::Manifest& manifest) const {
  if (schema.empty()) return;
  layout::write_index_attributes(index, manifest, schema, tuples.view());
}

void require_all_rows(const BuildInput& input, const dataset::VectorSet& rows,
                      const RowAttributesOption& option) {
  if (rows.dropped() == 0 || option.file.empty()) return;
  throw Error(
      "--attributes: {} rows of {} were dropped, so that the others would have the attributes of "
      "other rows: remove these rows from both files",
      rows.dropped(), input.data);
}

ReadAttributes read_row_attributes(const RowAttributesOption& option, std::size_t vectors) {
  if (option.schema.empty() && option.file.empty()) return {};
  if (option.schema.empty()) throw Error("--attributes: --schema says what they are; give both");
  if (option.file.empty()) throw Error("--schema: --attributes has the values; give both");
  ReadAttributes read{schema_of(option.schema), {}};
  read.tuples = indexing::read_attributes(option.file, read.schema);
  indexing::require_rows(read.tuples, vectors, option.file);
  return read;
}

}  // namespace farvec::cli
