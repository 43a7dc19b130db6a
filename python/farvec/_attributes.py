"""Attributes of rows as plain columns; what they are not is refused by name, and nothing is cast."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from farvec.errors import InvalidArgument, WrongType

Column = tuple[str, Any, Any]  # the kind (as numpy's), the values, and which of them are null


def columns(given: Any, names: Sequence[str], rows: int) -> Mapping[Any, Any]:
    """What insert() was given as a mapping from names to columns.

    Args:
        given: A mapping from names to columns, or a list with a mapping for each row.
        names: Of the columns that the schema has.
        rows: How many there are.
    """
    if isinstance(given, Mapping):
        return given
    if not isinstance(given, (list, tuple)):
        raise WrongType(f"attributes: {type(given).__name__} is neither a dict of columns, nor a "
                        "list with a dict for each row, nor has it __arrow_c_stream__")
    if len(given) != rows:
        raise InvalidArgument(f"attributes: {len(given)} dicts for {rows} rows")
    for row, attributes in enumerate(given):
        if not isinstance(attributes, Mapping):
            raise WrongType(f"attributes: row {row} is {type(attributes).__name__}, not a dict")
        for name in attributes:
            if name not in names:
                raise InvalidArgument(f"attributes: row {row}: there is no column {name!r}: the "
                                      f"schema has {', '.join(names) or 'none'}")
    used = [name for name in names if any(name in attributes for attributes in given)]
    return {name: [attributes.get(name) for attributes in given] for name in used}


def new_values(given: Any, names: Sequence[str],
               rows: int | None) -> tuple[Mapping[Any, Any], int]:
    """What update() was given as a mapping from names to columns, and how many rows these have.

    Args:
        given: A mapping from names to columns or to single values, or a list with a mapping for
            each row.
        names: Of the columns that the schema has.
        rows: How many there are; None: a single one, which all rows get.
    """
    if rows is None:
        if not isinstance(given, Mapping):
            raise WrongType(f"attributes: {type(given).__name__} is no dict: with a filter, each "
                            "column has one value")
        return {name: [value] for name, value in given.items()}, 1
    if not isinstance(given, Mapping):
        listed = columns(given, names, rows)
        for row, attributes in enumerate(given):
            if attributes.keys() != given[0].keys():
                raise InvalidArgument(f"attributes: row {row} has other columns than row 0: None "
                                      "stands for no value")
        return listed, rows
    if all(_is_single(value) for value in given.values()):
        return {name: [value] for name, value in given.items()}, 1
    return {name: [value] * rows if _is_single(value) else value
            for name, value in given.items()}, rows


def _is_single(value: Any) -> bool:
    return value is None or isinstance(value, (str, bytes, bool, int, float, set, frozenset,
                                               datetime.date, numpy.generic))


def column(values: Any, name: str, is_time: bool) -> Column:
    """A column as a packed array of uint64, int64, float64, bool or microseconds, or as a list.

    Args:
        values: An array, what gives one, or a list, tuple or range with a value for each row.
        name: Of the column.
        is_time: Whether it has timestamps.
    """
    if isinstance(values, (list, tuple, range)):
        return "O", _times(values, name) if is_time else list(values), None
    if isinstance(values, (str, bytes)) or not hasattr(values, "__array__"):
        raise WrongType(f"attributes: column '{name}' is {type(values).__name__}: give an array or "
                        "a list with a value for each row")
    array = numpy.asanyarray(values)
    if array.ndim != 1:
        raise InvalidArgument(f"attributes: column '{name}' has {array.ndim} dimensions, not one: "
                              "give sets as a list of lists")
    nulls = None
    if isinstance(array, numpy.ma.MaskedArray):
        nulls = numpy.ascontiguousarray(numpy.ma.getmaskarray(array))
        array = array.data
    return _of_array(numpy.asarray(array), name, is_time, nulls)


def _of_array(array: numpy.ndarray, name: str, is_time: bool, nulls: Any) -> Column:
    kind = array.dtype.kind
    if kind == "M":
        missing = numpy.isnat(array)
        nulls = missing if nulls is None else nulls | missing
        return kind, _microseconds(array, nulls, name), nulls
    if kind in "UOT":
        items = array.tolist()
        return "O", _times(items, name) if is_time else items, nulls
    types = {"u": numpy.uint64, "i": numpy.int64, "f": numpy.float64, "b": numpy.bool_}
    if kind not in types or array.dtype.itemsize > 8:
        raise InvalidArgument(f"attributes: column '{name}' is an array of {array.dtype}, which no "
                              "column takes: give integers, floats, bools, str, datetime64 or lists")
    return kind, numpy.ascontiguousarray(array, types[kind]), nulls


def _microseconds(array: numpy.ndarray, nulls: Any, name: str, first: int = 0) -> numpy.ndarray:
    """Exactly: neither is a nanosecond cut off, nor does a number of years overflow."""
    if numpy.datetime_data(array.dtype)[0] == "generic":
        raise InvalidArgument(f"attributes: column '{name}' is datetime64 without a unit: say which, "
                              "as 'datetime64[s]'")
    times = array.astype("datetime64[us]")
    wrong = (times.astype(array.dtype) != array) & ~nulls
    if numpy.any(wrong):
        row = int(numpy.argmax(wrong))
        raise InvalidArgument(f"attributes: row {first + row}: column '{name}' is timestamp, in "
                              f"microseconds, and the value is {array[row]}: round it, as "
                              f"{name}.astype('datetime64[us]')")
    return numpy.ascontiguousarray(times.astype(numpy.int64))


def _times(items: Sequence[Any], name: str) -> list[Any]:
    return [_time(item, name, row) for row, item in enumerate(items)]


def _time(item: Any, name: str, row: int) -> Any:
    """A moment as ISO 8601, which is parsed elsewhere; other objects as they are."""
    if isinstance(item, numpy.datetime64):
        if numpy.isnat(item):
            return None
        exact = _microseconds(numpy.asarray([item]), numpy.zeros(1, bool), name, row)
        return str(exact.view("datetime64[us]")[0])
    if isinstance(item, (datetime.datetime, datetime.date)):
        return item.isoformat() if item == item else None  # pandas.NaT is not its own equal
    return item
