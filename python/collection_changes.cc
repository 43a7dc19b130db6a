// Binds what changes a Collection.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/status_error.h"
#include "changes/batches.h"
#include "changes/distinct_update.h"
#include "python/arrays.h"
#include "python/attributes.h"
#include "python/bindings.h"
#include "python/errors.h"
#include "python/jobs.h"
#include "python/known_schema.h"
#include "python/new_values.h"
#include "python/search_call.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;
using changes::Receipt;

using CollectionHandle = Handle<Changing>;

/// Holds the rows that a call inserts.
class GivenRows {
 public:
  GivenRows(Changing& open, const AnyArray& ids, const AnyArray& vectors,
            const nb::object& attributes)
      : ids_(ids, "ids"), rows_(vectors, "vectors", wish_of(open)) {
    const std::size_t count = rows_.view().count;
    if (count != ids_.values.size()) {
      throw_invalid("{} ids for {} vectors", ids_.values.size(), count);
    }
    if (attributes.is_none()) return;
    tuples_ = with_schema(open.changes(), [&](const layout::Schema& schema) {
      return to_tuples(schema, attributes, count);
    });
  }

  changes::RowBatch batch() const { return {rows_.view(), ids_.all(), tuples_.view()}; }

 private:
  Ids ids_;
  Rows rows_;
  layout::Tuples tuples_;
};

Receipt insert(const CollectionHandle& handle, const AnyArray& ids, const AnyArray& vectors,
               const nb::object& attributes, double deadline) {
  const auto open = handle.get();
  const double seconds = checked_deadline(deadline);
  const GivenRows given(*open, ids, vectors, attributes);
  Receipt receipt;
  run_job([&](const Interruption& interrupted) {
    open->changes().check(given.batch());
    changes::insert_all(open->changes(), given.batch(),
                        {.patience = patience_of(seconds, interrupted)}, receipt);
  });
  return receipt;
}

Receipt import_rows(const CollectionHandle& handle, const AnyArray& ids, const AnyArray& vectors,
                    const nb::object& attributes) {
  const auto open = handle.get();
  const GivenRows given(*open, ids, vectors, attributes);
  Receipt receipt;
  run_job([&](const Interruption& interrupted) {
    open->changes().check(given.batch());
    receipt = open->import(given.batch(), interrupted);
  });
  return receipt;
}

Receipt import_index(const CollectionHandle& handle, const std::filesystem::path& index,
                     std::uint64_t first_id) {
  const auto open = handle.get();
  Receipt receipt;
  run_job([&](const Interruption& interrupted) {
    receipt = open->import_index(index, first_id, interrupted);
  });
  return receipt;
}

/// Reads the new values of rows, and checks them. Without `rows` there is one for all.
indexing::ColumnsOfRows new_values(const changes::Changing& changes, const nb::object& attributes,
                                   const std::optional<std::size_t>& rows) {
  return with_schema(changes, [&](const layout::Schema& schema) {
    indexing::ColumnsOfRows made = to_new_values(schema, attributes, rows);
    (void)changes::check_values({made.names, made.values.view()}, schema);
    return made;
  });
}

Receipt update_matching(Changing& open, const std::string& filter, const nb::object& attributes,
                        double seconds) {
  if (filter.empty()) throw_invalid("filter: it is empty; 'true' means every row");
  const indexing::ColumnsOfRows made = new_values(open.changes(), attributes, std::nullopt);
  Receipt receipt;
  run_job([&](const Interruption& interrupted) {
    open.changes().update_matching(filter, {made.names, made.values.view()},
                                   patience_of(seconds, interrupted), receipt);
  });
  return receipt;
}

Receipt update(const CollectionHandle& handle, const std::optional<AnyArray>& ids,
               const nb::object& attributes, const std::optional<std::string>& filter,
               double deadline) {
  const auto open = handle.get();
  const double seconds = checked_deadline(deadline);
  if (ids.has_value() == filter.has_value()) throw_invalid("ids, filter: give one of them");
  if (filter) return update_matching(*open, *filter, attributes, seconds);
  const Ids given(*ids, "ids");
  const indexing::ColumnsOfRows made = new_values(open->changes(), attributes, given.values.size());
  Receipt receipt;
  run_job([&](const Interruption& interrupted) {
    changes::update_all(open->changes(), given.all(), {made.names, made.values.view()},
                        {.patience = patience_of(seconds, interrupted)}, receipt);
  });
  return receipt;
}

void add_columns(const CollectionHandle& handle, const nb::object& columns) {
  const auto open = handle.get();
  const layout::Schema more = to_schema(columns);
  run_job([&](const Interruption&) { open->changes().add_columns(more); });
}

Receipt erase_matching(const CollectionHandle& handle, const std::string& filter, double seconds) {
  const auto open = handle.get();
  Receipt receipt;
  run_job([&](const Interruption& interrupted) {
    open->changes().erase_matching(filter, patience_of(seconds, interrupted), receipt);
  });
  return receipt;
}

Receipt erase(const CollectionHandle& handle, const std::optional<AnyArray>& ids,
              const std::optional<std::string>& filter, double deadline) {
  const auto open = handle.get();
  const double seconds = checked_deadline(deadline);
  if (ids.has_value() == filter.has_value()) throw_invalid("ids, filter: give one of them");
  if (filter) {
    if (filter->empty()) throw_invalid("filter: it is empty; 'true' means every row");
    return erase_matching(handle, *filter, seconds);
  }
  const Ids given(*ids, "ids");
  Receipt receipt;
  run_job([&](const Interruption& interrupted) {
    changes::erase_all(open->changes(), given.all(),
                       {.patience = patience_of(seconds, interrupted)}, receipt);
  });
  return receipt;
}

void bind_insert(nb::class_<CollectionHandle>& type) {
  type.def("insert", &insert, "ids"_a, "vectors"_a, nb::kw_only(), "attributes"_a = nb::none(),
           "deadline"_a = 60.0,
           R"(Insert vectors; those whose ids are there take the others' place.

Args:
    ids: ``(rows,)`` integers of any width, an array or a list, 0 to 2**64 - 1, each once; the
        largest number stands for none and should not be one. Nothing else is taken for an id.
    vectors: ``(rows, dimension)`` of the collection's element type, finite.
    attributes: Where the collection has a schema: a dict of columns (arrays or lists of a value for
        each row, None for null), a list with a dict for each row, or what has
        ``__arrow_c_stream__`` (a table of pyarrow, polars, pandas or duckdb). Columns that are
        missing are null, and nothing is cast.
    deadline: Seconds to wait for room while segments are built.

Returns:
    Receipt. Rows go in 4096 at a time: of a call that fails, those before are in.

Raises:
    InvalidArgument: A shape, type or value that cannot be. Error: an id that comes twice.
    ResourceExhausted: No room before the deadline, or the disk is full.)");
}

void bind_import(nb::class_<CollectionHandle>& type) {
  type.def("import_rows", &import_rows, "ids"_a, "vectors"_a, nb::kw_only(),
           "attributes"_a = nb::none(),
           R"(Insert many vectors at once: all become one segment, past the log and the fresh rows.

It is the way in for millions of rows, also into a collection that has some. Searches and changes go
on until the segment is taken in. ``build_threads`` of them build it.

Args:
    ids, vectors: As :meth:`insert` has them. The vectors may be those of a mapped file.
    attributes: As :meth:`insert` has them. A stream of Arrow's is read batch after batch, so that
        its columns need not be in memory at once; a set is fastest as a list of a dictionary
        (``list<dictionary<int32, string>>``).

Returns:
    Receipt. All rows are durable and found, or, where the call fails, none is in.

Raises:
    As :meth:`insert`; KeyboardInterrupt: Ctrl-C has ended it. FailedPrecondition: The collection is
    a compute node's.)");
  type.def("import_index", &import_index, "index"_a, "first_id"_a = 0,
           R"(Take a copy of an index in as one segment, with its attributes.

The index may have been built with options that a collection does not have, or on another machine.

Args:
    index: Folder that :func:`build_graph` or :func:`build_clusters` has made, of the collection's
        metric, type, dimension and layout. Its attributes, where :func:`write_attributes` has given
        it some, have the first columns of the collection's schema; the others are null.
    first_id: The id of row 0; the others follow.

Returns, Raises:
    As :meth:`import_rows`. Error: The index is damaged, or another one.)");
}

void bind_erase(nb::class_<CollectionHandle>& type) {
  type.def("delete", &erase, "ids"_a = nb::none(), nb::kw_only(), "filter"_a = nb::none(),
           "deadline"_a = 60.0,
           nb::sig("def delete(self, ids: numpy.typing.ArrayLike | None = None, *, filter: str | "
                   "None = None, deadline: float = 60.0) -> Receipt"),
           "Delete ids, ``(rows,)`` integers; those that are not there are counted. Or delete the "
           "rows that meet the condition ``filter``: each of them meets it at that moment. Returns "
           "Receipt.");
}

void bind_update(nb::class_<CollectionHandle>& type) {
  type.def("update", &update, "ids"_a = nb::none(), "attributes"_a = nb::none(), nb::kw_only(),
           "filter"_a = nb::none(), "deadline"_a = 60.0,
           nb::sig("def update(self, ids: numpy.typing.ArrayLike | None = None, attributes: "
                   "typing.Any = None, *, filter: str | None = None, deadline: float = 60.0) -> "
                   "Receipt"),
           R"(Give rows new attributes, and leave their vectors and their other columns as they are.

Args:
    ids: ``(rows,)`` integers. Those that are not there are counted, and so are those that come
        again: the first of them holds.
    attributes: A dict of the columns that change. Each has an array or a list of a value for each
        id, or one value for all: a number, a str, a bool, a datetime, a set of str, or None for
        null. Or, with ids, a list with a dict for each row, or what has ``__arrow_c_stream__``.
        Nothing is cast.
    filter: In place of ids: the rows that meet this condition, each of which meets it at that
        moment; ``"true"`` means every row. Each column then has one value, and a list is a set.
    deadline: Seconds for the call. When they are over, some rows may be left: repeat it then.

Returns:
    Receipt: ``done`` counts rows that were there. A row has all of its new values or none.
    When a call fails, some rows may have theirs.

Raises:
    InvalidArgument: A column that is not there, a value that is not exactly of its type, or null
        where the schema forbids it.
    DeadlineExceeded: The time is over, and rows are left. ResourceExhausted: The disk is full.)");
}

void bind_columns(nb::class_<CollectionHandle>& type) {
  type.def("add_columns", &add_columns, "columns"_a,
           nb::sig("def add_columns(self, columns: dict[str, str] | str) -> None"),
           R"(Add columns to the schema; rows that are there are null in them.

Args:
    columns: Names and types, as ``create`` takes them: ``{"rating": "f64"}``. None is ``not null``.

Raises:
    InvalidArgument: A column that is there already, or that cannot be.)");
}

void bind_waits(nb::class_<CollectionHandle>& type) {
  type.def(
          "flush",
          [](const CollectionHandle& handle) {
            const auto open = handle.get();
            run_job([&](const Interruption& interrupted) {
              if (!open->changes().flush(interrupted)) throw WorkInterrupted();
            });
          },
          "Return when all that was inserted before lies in segments.")
      .def(
          "compact",
          [](const CollectionHandle& handle) {
            const auto open = handle.get();
            run_job([&](const Interruption& interrupted) {
              if (!open->changes().compact(interrupted)) throw WorkInterrupted();
            });
          },
          "flush(), and all segments of that moment become one, without the rows that are out.");
}

}  // namespace

void bind_collection_changes(nb::class_<Handle<Changing>>& type) {
  bind_insert(type);
  bind_import(type);
  bind_erase(type);
  bind_update(type);
  bind_columns(type);
  bind_waits(type);
}

}  // namespace farvec::python
