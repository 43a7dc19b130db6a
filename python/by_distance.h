// Every class with a search() has rows_by_distance(), which this header binds.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "layout/index/index_description.h"
#include "python/handle.h"
#include "search/core/search_parameters.h"

namespace farvec::python {

inline constexpr const char* kByDistanceDoc =
    R"(Yield the rows nearest to a query, ``page`` at a time, until the caller stops or there are no more.

Args:
    query: ``(dimension,)``, as :meth:`search` takes it.
    page: Rows of a page; the last one may have fewer.
    options: As :meth:`search` has them, without ``k``. ``list`` and ``probe`` are those of the first
        search, and grow.

Returns:
    An iterator of pages, which unpack as ``ids, distances, attributes``; the third is None where no
    columns were selected. No row comes twice. Rows of a page are in the order of their distance. A
    row that a search did not find at first may come in a later page, though it is nearer; what is
    inserted meanwhile may come too.

Raises:
    ResourceExhausted: As many rows came as a search has room for (``max_list``), and there may be
        more. What :meth:`search` raises comes from the iterator too.)";

/// Binds rows_by_distance(), and _bounds(), which tells it how much room searches have.
template <typename Open>
void bind_by_distance(nanobind::class_<Handle<Open>>& type) {
  namespace nb = nanobind;
  type.def(
          "_bounds",
          [](const Handle<Open>& handle) {
            const search::SearchBounds bounds = handle.get()->bounds();
            nb::dict most;
            most["vectors"] = bounds.vectors;
            most["k"] = bounds.k;
            most["list"] = bounds.list;
            most["clusters"] = bounds.kind == layout::IndexKind::cluster ? bounds.clusters : 0;
            return most;
          },
          nb::sig("def _bounds(self) -> dict[str, int]"))
      .def(
          "rows_by_distance",
          [](const nb::object& self, const nb::args& args, const nb::kwargs& kwargs) {
            return nb::module_::import_("farvec._by_distance").attr("pages")(self, *args, **kwargs);
          },
          nb::sig("def rows_by_distance(self, query: numpy.typing.ArrayLike, *, page: int = 100, "
                  "**options: typing.Any) -> collections.abc.Iterator[tuple[numpy.ndarray, "
                  "numpy.ndarray, dict[str, typing.Any] | None]]"),
          kByDistanceDoc);
}

}  // namespace farvec::python
