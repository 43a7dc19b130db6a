#include "indexing/attributes/attributes_json.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/file_names.h"
#include "base/timestamp.h"
#include "indexing/attributes/base64.h"
#include "indexing/attributes/exact_value.h"

namespace farvec::indexing {
namespace {

using layout::Column;
using layout::ColumnType;
using layout::Schema;
using layout::Tuple;
using layout::Value;
using nlohmann::ordered_json;

constexpr const char* kInfinity = "Infinity";
constexpr const char* kMinusInfinity = "-Infinity";
constexpr const char* kBase64 = "base64";

ordered_json labels_json(const layout::Labels& labels) {
  ordered_json array = ordered_json::array();
  for (std::uint32_t i = 0; i < labels.size(); ++i) array.push_back(labels[i]);
  return array;
}

ordered_json number_json(double number) {
  if (std::isfinite(number)) return number;
  return number > 0 ? kInfinity : kMinusInfinity;
}

ordered_json text_json(std::string_view bytes) {
  if (is_utf8(bytes)) return bytes;
  return {{kBase64, to_base64(bytes)}};
}

ordered_json value_json(const Schema& schema, const Tuple& tuple, std::size_t column) {
  if (tuple.is_null(column)) return nullptr;
  switch (schema[column].type) {
    case ColumnType::u64:
      return tuple.word(column);
    case ColumnType::i64:
      return static_cast<std::int64_t>(tuple.word(column));
    case ColumnType::f64:
      return number_json(std::get<double>(tuple.value(schema, column)));
    case ColumnType::boolean:
      return tuple.word(column) != 0;
    case ColumnType::timestamp:
      return timestamp_text(static_cast<std::int64_t>(tuple.word(column)));
    case ColumnType::set:
      return labels_json(tuple.labels(column));
    default:
      return text_json(tuple.text(column));
  }
}

/// Gets an object token by token, as nlohmann::json::sax_parse() calls it. What cannot be is
/// thrown, so that nothing is built of it.
class AttributesSax : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit AttributesSax(const Schema& schema)
      : schema_(schema), values_(schema.size()), named_(schema.size()) {}

  NamedAttributes take() { return {std::move(values_), std::move(named_)}; }

  bool null() override {
    if (inside_ != Inside::object) refuse("null");
    return true;
  }
  bool boolean(bool value) override { return scalar(value, value ? "true" : "false"); }
  bool number_integer(std::int64_t value) override { return scalar(value, std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) override {
    return scalar(value, std::to_string(value));
  }
  bool number_float(double value, const std::string& digits) override {
    const bool is_integer = digits.find_first_of(".eE") == std::string::npos;
    if (is_integer && inside_ == Inside::object) refuse_long_integer(column(), digits);
    return scalar(value, digits);
  }
  bool string(std::string& value) override;
  bool binary(nlohmann::json::binary_t&) override { return false; }  // not in text
  bool start_object(std::size_t) override;
  bool key(std::string& name) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t place, const std::string& token,
                   const nlohmann::json::exception& error) override;

 private:
  enum class Inside { nothing, object, labels, base64 };

  const Column& column() const { return schema_[column_]; }

  template <typename Number>
  bool scalar(Number value, const std::string& shown) {
    if (inside_ != Inside::object) refuse(shown);
    values_[column_] = exact_value(value, column());
    return true;
  }

  [[noreturn]] void refuse(std::string_view shown) const {
    switch (inside_) {
      case Inside::nothing:
        throw Error("this is {}, and no object {{\"column\": value}}", shown);
      case Inside::object:
        refuse_value(column(), shown);
      case Inside::labels:
        throw Error("a label of column '{}' is {}: labels are strings", column().name, shown);
      case Inside::base64:
        throw Error("the bytes of column '{}' are {}: write a string, or {{\"{}\": \"...\"}}",
                    column().name, shown, kBase64);
    }
    throw Error("this is no JSON object");
  }

  const Schema& schema_;
  std::vector<Value> values_;
  std::vector<bool> named_;  ///< which columns the object has had
  std::size_t column_ = 0;   ///< the one whose value comes next
  Inside inside_ = Inside::nothing;
};

bool AttributesSax::string(std::string& value) {
  if (inside_ == Inside::labels) {
    std::get<std::vector<std::string>>(values_[column_]).push_back(std::move(value));
    return true;
  }
  if (inside_ == Inside::nothing) refuse("a string");
  if (inside_ == Inside::base64) {
    auto bytes = from_base64(value);
    if (!bytes) refuse("no base64");
    values_[column_] = std::move(*bytes);
  } else if (column().type == ColumnType::f64 && (value == kInfinity || value == kMinusInfinity)) {
    values_[column_] = value == kInfinity ? HUGE_VAL : -HUGE_VAL;
  } else {
    values_[column_] = exact_value(std::move(value), column());
  }
  return true;
}

bool AttributesSax::start_object(std::size_t) {
  if (inside_ == Inside::nothing) {
    inside_ = Inside::object;
  } else if (inside_ == Inside::object && column().type == ColumnType::bytes) {
    inside_ = Inside::base64;
  } else {
    refuse("an object");
  }
  return true;
}

bool AttributesSax::key(std::string& name) {
  if (inside_ == Inside::base64) {
    const bool again = !std::holds_alternative<std::monostate>(values_[column_]);
    if (name != kBase64 || again) refuse("an object with the field " + shown_text(name));
    return true;
  }
  column_ = require_column(schema_, name);
  if (named_[column_]) throw Error("column '{}' is there twice", name);
  named_[column_] = true;
  return true;
}

bool AttributesSax::end_object() {
  if (inside_ == Inside::base64 && std::holds_alternative<std::monostate>(values_[column_])) {
    refuse("an object without a field");
  }
  inside_ = inside_ == Inside::base64 ? Inside::object : Inside::nothing;
  return true;
}

bool AttributesSax::start_array(std::size_t) {
  if (inside_ != Inside::object || column().type != ColumnType::set) refuse("an array");
  values_[column_] = std::vector<std::string>();
  inside_ = Inside::labels;
  return true;
}

bool AttributesSax::end_array() {
  inside_ = Inside::object;
  return true;
}

bool AttributesSax::parse_error(std::size_t place, const std::string& token,
                                const nlohmann::json::exception& error) {
  if (error.id == 406) throw Error("the number {} is out of range", shown_text(token));
  const bool is_word = token.ends_with('N') || token.ends_with('I') || token.ends_with("-I");
  throw Error("this is no JSON at byte {}, after {}{}", place, shown_text(token),
              is_word ? ": JSON has no NaN and no Infinity, write null" : "");
}

}  // namespace

ordered_json attributes_json(const Schema& schema, const Tuple& tuple) {
  ordered_json object = ordered_json::object();
  for (std::size_t column = 0; column < schema.size(); ++column) {
    object[schema[column].name] = value_json(schema, tuple, column);
  }
  return object;
}

std::vector<Value> parse_attributes(std::string_view json, const Schema& schema) {
  return parse_named_attributes(json, schema).values;
}

NamedAttributes parse_named_attributes(std::string_view json, const Schema& schema) {
  AttributesSax sax(schema);
  nlohmann::json::sax_parse(json, &sax);
  return sax.take();
}

}  // namespace farvec::indexing
