"""Rows in the order of their distance from a query, page after page."""

import collections.abc as abc
import operator
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


def _count(name: str, value: typing.Any, least: int = 1) -> int:
    if not isinstance(value, bool):
        try:
            number = operator.index(value)
        except TypeError:
            pass
        else:
            if number >= least:
                return number
    raise InvalidArgument(f"{name}: {value!r} came, an integer of {least} or more is allowed")


class _Searches:
    """Searches of one query, each for more rows than the one before."""

    def __init__(self, searched: typing.Any, query: typing.Any, rows: int, options: dict[str, typing.Any]):
        self._searched = searched
        self._query = query
        self._options = dict(options)
        most = searched._bounds()
        self._of_clusters = most["clusters"] > 0
        size, probe = self._options.pop("list", None), self._options.pop("probe", None)
        self._list = min(LEAST_LIST, most["list"]) if size is None else _count("list", size)
        self._probe = min(LEAST_PROBE, most["clusters"]) if probe is None else _count("probe", probe)
        self._all = most["vectors"]
        # The list of a search of clusters does not bound its results.
        self._most_rows = min(most["k"], self._all, *([] if self._of_clusters else [most["list"]]))
        self._most_list = most["list"]
        self._most_probe = most["clusters"]
        self._rows = min(rows, self._most_rows)
        #: Whether the last search found all rows that there are.
        self.complete = self._all == 0
        #: What is not large enough for a search of more; empty: there is room for one.
        self.used_up = ""

    def next(self) -> typing.Any:
        """The next search; raises ResourceExhausted where there is no room for a larger one."""
        if self.used_up:
            raise ResourceExhausted(f"a search has no room for more rows than came: {self.used_up}")
        rows = self._rows
        # A list or a probe that is too large when it is given is refused by the search.
        options = {"list": max(self._list, min(rows + rows // 2, self._most_list))}
        if self._of_clusters:
            options["probe"] = self._probe
        result = self._searched.search(self._query, rows, **options, **self._options)
        found = int(numpy.isfinite(result.distances).sum())
        if found == rows:
            self._use_more_rows(rows)
        else:
            self._end_or_probe_more(result.counts.clusters)
        self.complete = self.complete or found == self._all
        self._probe = max(self._probe, min(2 * self._probe, self._most_probe))
        return result

    def _use_more_rows(self, rows: int) -> None:
        self._rows = min(2 * rows, self._most_rows)
        if rows == self._most_rows:
            self.used_up = ("its node allows no larger k" if self._of_clusters else
                            "open it with a larger max_list (of a compute node --max-list and --max-k)")

    def _end_or_probe_more(self, probed: int) -> None:
        """Fewer rows came than were asked for: clusters that were not probed may have more."""
        if not self._of_clusters or probed < self._probe:
            self.complete = True
        elif self._probe < self._most_probe:
            pass
        elif "within" in self._options and self._searched.describe().get("clusters") != self._probe:
            # Without a bound a search goes on by itself until it has enough rows.
            self.used_up = "open it with a larger max_probe (of a compute node --max-probe)"
        else:
            self.complete = True


def _page(result: typing.Any, places: list[int]) -> Page:
    attributes = result.attributes
    if attributes is not None:
        attributes = {name: [values[place] for place in places] for name, values in attributes.items()}
    return Page(result.ids[places], result.distances[places], attributes)


def pages(
    searched: typing.Any, query: typing.Any, *, page: int = 100, **options: typing.Any
) -> abc.Iterator[Page]:
    """Yields pages of `page` rows; the last has what is left."""
    page = _count("page", page)
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
        last = searches.complete or searches.used_up != ""
        whole = len(fresh) if last else len(fresh) // page * page
        for first in range(0, whole, page):
            places = fresh[first:first + page]
            seen.update(result.ids[places].tolist())
            yield _page(result, places)
