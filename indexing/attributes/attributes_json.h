// attributes_json() writes the attributes of a row as a JSON object: `get` shows them so, and files
// of JSONL have them.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "layout/attributes/schema.h"
#include "layout/attributes/tuple.h"

namespace farvec::indexing {

/// Returns a field for each column, in the schema's order: numbers, booleans and strings as they
/// are, null where there is nothing, a timestamp as ISO 8601 in UTC, a set as an array of strings,
/// bytes as text where they are UTF-8 and {"base64": "..."} where not. JSON has no infinite number:
/// these are the texts "Infinity" and "-Infinity".
nlohmann::ordered_json attributes_json(const layout::Schema& schema, const layout::Tuple& tuple);

/// Parses one JSON object, and returns a value for each column: null where the object has no field.
/// It reads what attributes_json() writes. Throws Error, with the place in the text, for what is no
/// JSON or no object, and Error with the column for a field that the schema does not have, one that
/// is there twice, and what exact_value() refuses. Null where the schema forbids it is for
/// layout::append_tuple() to refuse.
std::vector<layout::Value> parse_attributes(std::string_view json, const layout::Schema& schema);

/// Has a value for each column of a schema, and says which columns the object has.
struct NamedAttributes {
  std::vector<layout::Value> values;
  std::vector<bool> named;
};
/// Does what parse_attributes() does.
NamedAttributes parse_named_attributes(std::string_view json, const layout::Schema& schema);

}  // namespace farvec::indexing
