// Binds what reads the rows of a Collection, by their ids or by a condition.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "changes/batches.h"
#include "python/arrays.h"
#include "python/attributes.h"
#include "python/bindings.h"
#include "python/errors.h"
#include "python/jobs.h"
#include "python/known_schema.h"
#include "python/search_call.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

using CollectionHandle = Handle<Changing>;

/// Seconds that a change, or a read by ids, may take when the caller does not say.
constexpr double kUsualDeadline = 60;
/// Rows that a page may have.
constexpr std::uint32_t kMostListed = 100'000;

nb::tuple get(const CollectionHandle& handle, const AnyArray& ids, double deadline) {
  const auto open = handle.get();
  const double seconds = checked_deadline(deadline);
  const Ids given(ids, "ids");
  changes::FoundRows rows;
  run_job([&](const Interruption& interrupted) {
    rows = changes::get_all(open->changes(), given.all(),
                            {.patience = patience_of(seconds, interrupted)});
  });
  return to_tuple(std::move(rows), open->dimension(), open->changes().row_shape().stored_type,
                  open->bit_order());
}

/// The columns of a collection, and the numbers of those that are to be read.
struct Selected {
  layout::Schema schema;
  std::vector<std::size_t> columns;
};

std::vector<std::size_t> column_numbers(const layout::Schema& schema,
                                        const std::optional<std::vector<std::string>>& select) {
  std::vector<std::size_t> columns(schema.size());
  std::iota(columns.begin(), columns.end(), 0);
  if (!select) return columns;
  columns.clear();
  for (const std::string& name : *select) {
    columns.push_back(parsed(
        "select", [&](const std::string& text) { return schema.require(text); }, name));
  }
  return columns;
}

/// Selects the columns that `select` names; null: all.
Selected selected(const changes::Changing& changes,
                  const std::optional<std::vector<std::string>>& select) {
  return with_schema(changes, [&](const layout::Schema& schema) {
    return Selected{schema, column_numbers(schema, select)};
  });
}

nb::dict attributes_of(const CollectionHandle& handle, const AnyArray& ids,
                       const std::optional<std::vector<std::string>>& select, double deadline) {
  const auto open = handle.get();
  const double seconds = checked_deadline(deadline);
  const Ids given(ids, "ids");
  const auto [schema, columns] = selected(open->changes(), select);
  changes::FoundRows rows;
  run_job([&](const Interruption& interrupted) {
    rows = changes::get_all(open->changes(), given.all(),
                            {.patience = patience_of(seconds, interrupted)});
  });
  layout::Tuples tuples;
  std::size_t next = 0;
  for (const bool found : rows.found) {
    const bool known = found && rows.attributes.count() > 0;
    tuples.append(known ? rows.attributes.view().row(next++) : layout::null_tuple());
  }
  return to_columns(schema, tuples.view(), columns);
}

changes::ListedRows list(const CollectionHandle& handle, const changes::Listing& asked,
                         double deadline) {
  const auto open = handle.get();
  const double seconds = checked_deadline(deadline);
  changes::ListedRows rows;
  run_job([&](const Interruption& interrupted) {
    rows = open->changes().list(asked, patience_of(seconds, interrupted));
  });
  return rows;
}

std::uint64_t count(const CollectionHandle& handle, const std::optional<std::string>& filter,
                    double deadline) {
  return list(handle, {.filter = filter.value_or("")}, deadline).matches;
}

/// Returns ids, attributes, and the id that the next page begins with, or None.
nb::tuple page(const CollectionHandle& handle, const std::optional<std::string>& filter,
               std::uint64_t from, std::int64_t limit,
               const std::optional<std::vector<std::string>>& select, double deadline) {
  const auto [schema, columns] = selected(handle.get()->changes(), select);
  changes::ListedRows rows = list(handle,
                                  {.filter = filter.value_or(""),
                                   .from = from,
                                   .most = within(limit, "limit", 1, kMostListed),
                                   .attributes = !columns.empty()},
                                  deadline);
  const nb::object next = rows.more ? nb::object(nb::int_(rows.ids.back() + 1)) : nb::none();
  const nb::dict attributes = to_columns(schema, rows.attributes.view(), columns);
  const std::size_t count = rows.ids.size();
  return nb::make_tuple(to_numpy(std::move(rows.ids), 1, count, true), attributes, next);
}

bool holds(const CollectionHandle& handle, const AnyArray& id) {
  const auto open = handle.get();
  const Ids given(id, "id", 0);
  bool found = false;
  run_job([&](const Interruption& interrupted) {
    found =
        open->changes().get(given.all(), patience_of(kUsualDeadline, interrupted)).found.front();
  });
  return found;
}

}  // namespace

void bind_collection_rows(nb::class_<CollectionHandle>& type) {
  type.def("count", &count, "filter"_a = nb::none(), nb::kw_only(), "deadline"_a = 60.0,
           "How many rows meet the condition ``filter``; None: all rows do.")
      .def("_page", &page, "filter"_a, "start"_a, "limit"_a, "select"_a, "deadline"_a,
           nb::sig("def _page(self, filter: str | None, start: int, limit: int, select: list[str] "
                   "| None, deadline: float) -> tuple[numpy.ndarray, dict[str, typing.Any], "
                   "int | None]"))
      .def(
          "scroll",
          [](const nb::object& self, const nb::args& args, const nb::kwargs& kwargs) {
            return nb::module_::import_("farvec._scroll").attr("pages")(self, *args, **kwargs);
          },
          nb::sig("def scroll(self, filter: str | None = None, *, start: int = 0, limit: int = "
                  "1000, select: list[str] | None = None, deadline: float = 60.0) -> "
                  "collections.abc.Iterator[tuple[numpy.ndarray, dict[str, typing.Any]]]"),
          "Iterate over the rows that meet the condition ``filter``, in the order of their ids, "
          "from the id ``start`` on. Yields ids and attributes, as attributes() returns them, of "
          "up "
          "to ``limit`` rows at a time. Each page is of one moment.")
      .def("get", &get, "ids"_a, nb::kw_only(), "deadline"_a = 60.0,
           nb::sig("def get(self, ids: numpy.typing.ArrayLike, *, deadline: float = 60.0) -> "
                   "tuple[numpy.ndarray, numpy.ndarray]"),
           "Whether each id is there, ``(ids,)`` bool, and the vectors of those that are, as they "
           "are stored (cosine: normalised). Raises DeadlineExceeded after that many seconds; what "
           "was read until then makes the next call shorter.")
      .def(
          "attributes", &attributes_of, "ids"_a, nb::kw_only(), "select"_a = nb::none(),
          "deadline"_a = 60.0,
          nb::sig("def attributes(self, ids: numpy.typing.ArrayLike, *, select: list[str] | None = "
                  "None, deadline: float = 60.0) -> dict[str, typing.Any]"),
          "The attributes of these ids: a dict with a list for each column of ``select`` (None: of "
          "all), and in it a value for each id. None stands for null, and for an id that is not "
          "there; timestamps are an array of datetime64[us] with NaT for these.")
      .def("__contains__", &holds, "id"_a, nb::sig("def __contains__(self, id: int) -> bool"),
           "Whether an id is there, which is an integer as :meth:`insert` takes it.");
}

}  // namespace farvec::python
