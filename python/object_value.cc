#include "python/object_value.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "indexing/attributes/exact_value.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using indexing::exact_value;
using layout::Column;
using layout::ColumnType;
using layout::Value;
using Texts = std::vector<std::string>;

/// Returns "float 1.5" for a message.
std::string shown_object(nb::handle object) {
  const auto type = text_of_object(object.type().attr("__name__")).value_or("object");
  const auto text = text_of_object(nb::repr(object)).value_or("");
  return fmt::format("{} {}", type, indexing::shown_text(text));
}

Value integer_value(nb::handle object, const Column& column) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow == 0) return exact_value(static_cast<std::int64_t>(number), column);
  const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(object.ptr()) : 0;
  if (overflow > 0 && PyErr_Occurred() == nullptr) {
    return exact_value(static_cast<std::uint64_t>(large), column);
  }
  PyErr_Clear();
  indexing::refuse_value(column, "an int of more than 64 bits");
}

Value text_value(nb::handle object, const Column& column) {
  auto text = text_of_object(object);
  if (!text) throw Error("the text of column '{}' is no UTF-8", column.name);
  return exact_value(std::move(*text), column);
}

Value bytes_value(nb::handle object, const Column& column) {
  if (column.type != ColumnType::bytes) indexing::refuse_value(column, shown_object(object));
  const auto bytes = nb::borrow<nb::bytes>(object);
  return std::string(static_cast<const char*>(bytes.data()), bytes.size());
}

Value labels_value(nb::handle object, const Column& column) {
  if (column.type != ColumnType::set) indexing::refuse_value(column, shown_object(object));
  Texts labels;
  for (const nb::handle label : nb::iter(object)) {
    auto text = text_of_object(label);
    if (!text) {
      throw Error("a label of column '{}' is {}: labels are str", column.name, shown_object(label));
    }
    labels.push_back(std::move(*text));
  }
  return labels;
}

/// Returns what a scalar or an array of numpy is in Python. Durations and dates are left as they
/// are, since without their unit they would be integers.
nb::object plain_object(nb::handle object) {
  if (!nb::hasattr(object, "dtype") || !nb::hasattr(object, "tolist")) return nb::borrow(object);
  const auto kind = text_of_object(nb::str(object.attr("dtype").attr("kind"))).value_or("");
  const bool is_plain =
      kind.size() == 1 && std::string_view("iufbUOT").find(kind) != std::string::npos;
  return is_plain ? nb::object(object.attr("tolist")()) : nb::borrow(object);
}

}  // namespace

std::optional<std::string> text_of_object(nb::handle object) {
  if (!PyUnicode_Check(object.ptr())) return std::nullopt;
  Py_ssize_t bytes = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object.ptr(), &bytes);
  if (text != nullptr) return std::string(text, static_cast<std::size_t>(bytes));
  PyErr_Clear();
  return std::nullopt;
}

Value object_value(nb::handle object, const Column& column) {
  if (object.is_none()) return {};
  if (PyUnicode_Check(object.ptr())) return text_value(object, column);
  const nb::object plain = plain_object(object);
  PyObject* const is = plain.ptr();
  if (PyBool_Check(is)) return exact_value(is == Py_True, column);
  if (PyLong_Check(is)) return integer_value(plain, column);
  if (PyFloat_Check(is)) return exact_value(PyFloat_AsDouble(is), column);
  if (PyUnicode_Check(is)) return text_value(plain, column);
  if (PyBytes_Check(is)) return bytes_value(plain, column);
  if (PyList_Check(is) || PyTuple_Check(is) || PyAnySet_Check(is)) {
    return labels_value(plain, column);
  }
  indexing::refuse_value(column, shown_object(object));
}

nb::object value_object(const layout::Schema& schema, const layout::Tuple& tuple,
                        std::size_t column) {
  const Value value = tuple.value(schema, column);
  if (const auto* truth = std::get_if<bool>(&value)) return nb::bool_(*truth);
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return nb::int_(*number);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return nb::int_(*number);
  if (const auto* number = std::get_if<double>(&value)) return nb::float_(*number);
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (schema[column].type == ColumnType::bytes) return nb::bytes(text->data(), text->size());
    return nb::str(text->data(), text->size());
  }
  if (const auto* labels = std::get_if<Texts>(&value)) {
    nb::list list;
    for (const std::string& label : *labels) list.append(nb::str(label.data(), label.size()));
    return list;
  }
  return nb::none();
}

}  // namespace farvec::python
