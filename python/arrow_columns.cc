#include "python/arrow_columns.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "indexing/attributes/exact_value.h"
#include "python/arrow_abi.h"
#include "python/arrow_values.h"
#include "python/errors.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using layout::Schema;
using layout::Tuples;

/// Owns a struct of Arrow's, which its release() frees.
template <typename Struct>
class Owned {
 public:
  Owned() = default;
  ~Owned() { clear(); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  bool holds() const { return value_.release != nullptr; }
  void clear() {
    if (holds()) value_.release(&value_);
    value_ = {};
  }
  /// Takes a struct over, as the interface has it: the other one is then as if released.
  void take(Struct& from) { value_ = std::exchange(from, Struct{}); }
  Struct* operator->() { return &value_; }
  Struct& operator*() { return value_; }

 private:
  Struct value_{};
};

/// Takes over what a capsule of this name has.
template <typename Struct>
void take_capsule(const nb::object& capsule, const char* name, Owned<Struct>& to) {
  if (PyCapsule_IsValid(capsule.ptr(), name) == 0) {
    throw_invalid("attributes: an Arrow object gives no {}", name);
  }
  auto* const from = static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (from->release == nullptr) throw_invalid("attributes: the {} has been read", name);
  to.take(*from);
}

/// Reads the batches of a stream.
class Stream {
 public:
  explicit Stream(const nb::object& source) {
    take_capsule(source.attr("__arrow_c_stream__")(), "arrow_array_stream", stream_);
    require(stream_->get_schema(&*stream_, &*schema_));
    if (!schema_.holds()) throw_invalid("attributes: the Arrow stream has no schema");
  }

  ArrowSchema& schema() { return *schema_; }
  /// Gives the next batch; false at the end.
  bool next(Owned<ArrowArray>& batch) {
    batch.clear();
    require(stream_->get_next(&*stream_, &*batch));
    return batch.holds();
  }

 private:
  void require(int error) {
    if (error == 0) return;
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    const char* const text = stream_->get_last_error(&*stream_);
    throw_invalid("attributes: the Arrow stream fails: {}",
                  text != nullptr ? text : std::strerror(error));
  }

  Owned<ArrowArrayStream> stream_;
  Owned<ArrowSchema> schema_;
};

/// Returns which column of the schema each child is.
std::vector<std::size_t> columns_of(const ArrowSchema& stream, const Schema& schema) {
  const bool has_columns = stream.format != nullptr && std::string_view(stream.format) == "+s" &&
                           (stream.n_children <= 0 || stream.children != nullptr);
  if (!has_columns) {
    throw_invalid("attributes: the Arrow stream has no columns: give a table");
  }
  std::vector<std::size_t> columns;
  std::vector<bool> named(schema.size());
  for (std::int64_t i = 0; i < stream.n_children; ++i) {
    const char* const name = stream.children[i]->name;
    const std::size_t column = parsed("attributes", [&] {
      return indexing::require_column(schema, name != nullptr ? name : "");
    });
    if (named[column]) throw_invalid("attributes: column '{}' is there twice", name);
    named[column] = true;
    columns.push_back(column);
  }
  return columns;
}

/// Returns the rows of the batch. Throws where its parts do not fit each other.
std::size_t require_batch(const ArrowArray& batch, const ArrowSchema& schema, const Tuples& tuples,
                          std::size_t rows) {
  const bool has_children =
      batch.n_children == schema.n_children && (batch.n_children <= 0 || batch.children != nullptr);
  if (!has_children || batch.length < 0 || batch.offset < 0) {
    throw_invalid("attributes: a batch of the Arrow stream does not fit its schema");
  }
  if (batch.n_buffers > 0 && batch.buffers != nullptr && batch.buffers[0] != nullptr &&
      batch.null_count != 0) {
    throw_invalid("attributes: rows of the Arrow stream are null as a whole: make columns null");
  }
  const auto count = static_cast<std::size_t>(batch.length);
  if (count > rows - tuples.count()) {
    throw_invalid("attributes: the Arrow stream has more than {} rows", rows);
  }
  return count;
}

/// Appends the values of an array that is one column.
void append_values(const ArrowSchema& schema, const ArrowArray& array, const layout::Column& column,
                   std::vector<layout::Value>& values) {
  const std::size_t first = values.size();
  const ReadValue read = parsed("attributes", [&] {
    return arrow_values({schema, array, 0, array.length}, column);
  });
  for (std::size_t row = 0; row < static_cast<std::size_t>(array.length); ++row) {
    values.push_back(
        parsed(fmt::format("attributes: row {}", first + row), [&] { return read(row); }));
  }
}

/// Reads the batches. `places` says of each column of the stream which column of the schema it is.
Tuples read_batches(Stream& stream, const Schema& schema, const std::vector<std::size_t>& places,
                    std::size_t rows) {
  Tuples tuples;
  Owned<ArrowArray> batch;
  while (stream.next(batch)) {
    const std::size_t count = require_batch(*batch, stream.schema(), tuples, rows);
    std::vector<ReadValue> readers(schema.size());
    parsed("attributes", [&] {
      for (std::size_t i = 0; i < places.size(); ++i) {
        const ArrowRows part{*stream.schema().children[i], *batch->children[i], batch->offset,
                             batch->length};
        readers[places[i]] = arrow_values(part, schema[places[i]]);
      }
    });
    append_rows(schema, readers, count, tuples.count(), tuples);
  }
  if (tuples.count() != rows) {
    throw_invalid("attributes: the Arrow stream has {} rows for {} rows", tuples.count(), rows);
  }
  return tuples;
}

}  // namespace

Tuples arrow_tuples(const Schema& schema, const nb::object& source, std::size_t rows) {
  Stream stream(source);
  const std::vector<std::size_t> columns = columns_of(stream.schema(), schema);
  return read_batches(stream, schema, columns, rows);
}

indexing::ColumnsOfRows arrow_columns_of_rows(const Schema& schema, const nb::object& source,
                                              std::size_t rows) {
  Stream stream(source);
  const std::vector<std::size_t> columns = columns_of(stream.schema(), schema);
  indexing::ColumnsOfRows read;
  for (const std::size_t column : columns) read.names.push_back(schema[column].name);
  std::vector<std::size_t> places(columns.size());
  std::iota(places.begin(), places.end(), 0);
  read.values = read_batches(stream, layout::select_columns(schema, columns), places, rows);
  return read;
}

bool is_arrow_column(nb::handle object) {
  return nb::hasattr(object, "__arrow_c_stream__") || nb::hasattr(object, "__arrow_c_array__");
}

std::vector<layout::Value> arrow_column(const layout::Column& column, const nb::object& source) {
  std::vector<layout::Value> values;
  Owned<ArrowArray> array;
  if (nb::hasattr(source, "__arrow_c_stream__")) {
    Stream stream(source);
    while (stream.next(array)) append_values(stream.schema(), *array, column, values);
    return values;
  }
  Owned<ArrowSchema> schema;
  const nb::object pair = source.attr("__arrow_c_array__")();
  take_capsule(pair[0], "arrow_schema", schema);
  take_capsule(pair[1], "arrow_array", array);
  append_values(*schema, *array, column, values);
  return values;
}

}  // namespace farvec::python
