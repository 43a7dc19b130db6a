"""Pages of rows, one after the other."""

import collections.abc as abc
import typing

import numpy


def pages(
    collection: typing.Any,
    filter: str | None = None,
    *,
    start: int = 0,
    limit: int = 1000,
    select: list[str] | None = None,
    deadline: float = 60.0,
) -> abc.Iterator[tuple[numpy.ndarray, dict[str, typing.Any]]]:
    """Yields (ids, attributes) of up to `limit` rows at a time, until there are no more."""
    following: int | None = start
    while following is not None:
        ids, attributes, following = collection._page(filter, following, limit, select, deadline)
        if len(ids) > 0:
            yield ids, attributes
