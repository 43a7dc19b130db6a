"""Rows in the order of their distance from a query, page after page."""

import collections.abc as abc
import typing

import numpy

from farvec.errors import InvalidArgument, ResourceExhausted

#: What a search looks for at first: fewer rows cost as much.
LEAST_ROWS = 50
LEAST_LIST = 64
LEAST_PROBE = 16


class Page(typing.NamedTuple):
    """Rows that were found; `attributes` is None where no columns were selected."""

    ids: numpy.ndarray
    distances: numpy.ndarray
    attributes: dict[str, typing.Any] | None


class _Searches:
    """Searches of one query, each for more rows than the one before."""

    def __init__(self, searched: typing.Any, query: typing.Any, rows: int, options: dict[str, typing.Any]):
        self._searched = searched
        self._query = query
        self._options = dict(options)
        most = searched._bounds()
        self._list = self._options.pop("list", None)
        self._probe = self._options.pop("probe", None)
        if self._list is None:
            self._list = min(LEAST_LIST, most["list"])
        if self._probe is None:
            self._probe = max(1, min(LEAST_PROBE, most["clusters"]))
        self._all = most["vectors"]
        self._most_rows = min(most["k"], most["list"], self._all)
        self._most_list = most["list"]
        self._most_probe = most["clusters"]
        self._rows = min(rows, self._most_rows)
        #: Whether the last search found all rows that there are.
        self.complete = self._all == 0
        #: Whether there is no room for a search of more.
        self.used_up = False

    def next(self) -> typing.Any:
        """The next search; raises ResourceExhausted where there is no room for a larger one."""
        if self.used_up:
            raise ResourceExhausted(
                f"{self._most_rows} rows were found, and a search has no room for more: open it with "
                "a larger max_list (of a compute node --max-list and --max-k)")
        rows = self._rows
        # A list or a probe that is too large when it is given is refused by the search.
        options = {"list": max(self._list, min(rows + rows // 2, self._most_list))}
        if self._most_probe > 0:
            options["probe"] = self._probe
        result = self._searched.search(self._query, rows, **options, **self._options)
        found = int(numpy.isfinite(result.distances).sum())
        # Clusters that were not probed may have more.
        self.complete = found == self._all or (found < rows and self._probe >= self._most_probe)
        self._probe = max(self._probe, min(2 * self._probe, self._most_probe))
        if found == rows:
            self.used_up = rows == self._most_rows
            self._rows = min(2 * rows, self._most_rows)
        return result


def _page(result: typing.Any, places: list[int]) -> Page:
    attributes = result.attributes
    if attributes is not None:
        attributes = {name: [values[place] for place in places] for name, values in attributes.items()}
    return Page(result.ids[places], result.distances[places], attributes)


def pages(
    searched: typing.Any, query: typing.Any, *, page: int = 100, **options: typing.Any
) -> abc.Iterator[Page]:
    """Yields pages of `page` rows; the last has what is left."""
    if isinstance(page, bool) or not isinstance(page, int) or page < 1:
        raise InvalidArgument(f"page: {page!r} came, a number of rows is allowed, 1 or more")
    if numpy.ndim(query) != 1:
        raise InvalidArgument(f"query: {numpy.ndim(query)} dimensions came, one is allowed: it is one vector")
    for name in ("k", "queries"):
        if name in options:
            raise InvalidArgument(f"{name}: rows come until they are not asked for: say `page`")
    searches = _Searches(searched, query, max(page, LEAST_ROWS), options)
    return _unseen(searches, page)


def _unseen(searches: _Searches, page: int) -> abc.Iterator[Page]:
    seen: set[int] = set()
    while not searches.complete:
        result = searches.next()
        fresh = [place for place, id in enumerate(result.ids.tolist())
                 if numpy.isfinite(result.distances[place]) and id not in seen]
        # A page that is not full waits for the next search, which finds its rows again.
        last = searches.complete or searches.used_up
        whole = len(fresh) if last else len(fresh) // page * page
        for first in range(0, whole, page):
            places = fresh[first:first + page]
            seen.update(result.ids[places].tolist())
            yield _page(result, places)
