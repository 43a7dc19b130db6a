"""Conditions on attributes, written from values of Python; what cannot be written is refused."""

import datetime
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy

from farvec.errors import InvalidArgument, WrongType


def quoted(text: str) -> str:
    """A text as a condition has it: between single quotes, those in it doubled, nothing else."""
    if "\0" in text:
        raise InvalidArgument(f"filter: {text!r} has a zero byte, which is in no column")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"filter: {text!r} is no text of UTF-8: {error}") from error
    return "'" + text.replace("'", "''") + "'"


def column_type(columns: Mapping[str, str], key: str) -> str:
    """The type of a column that conditions may name.

    Args:
        columns: Names and types of those there are.
        key: A key of metadata.
    """
    if key in columns:
        return columns[key]
    shown = ", ".join(f"{name}: {kind}" for name, kind in columns.items()) or "empty"
    raise InvalidArgument(f"filter: there is no column {key!r}: the schema is {shown}; a key of "
                          "metadata becomes a column when the store is made, as "
                          f"schema={{{key!r}: 'string'}}")


def literal(columns: Mapping[str, str], key: str, value: Any) -> str:
    """A value as a condition compares this column with it."""
    kind = column_type(columns, key)
    if isinstance(value, numpy.generic):
        value = value.item()
    written = _WRITTEN[kind](value) if kind in _WRITTEN else None
    if written is None:
        raise WrongType(f"filter: column {key!r} is {kind}, and is not compared with "
                        f"{type(value).__name__} {value!r}")
    return written


def listed(columns: Mapping[str, str], key: str, values: Iterable[Any]) -> str:
    """Values in parentheses, as ``in`` and ``contains`` want them."""
    return "(" + ", ".join(literal(columns, key, value) for value in values) + ")"


def equality(columns: Mapping[str, str], key: str, value: Any) -> str:
    """The condition that a column has a value, has one of a list of them, or has none (None)."""
    kind = column_type(columns, key)
    if value is None:
        return f"{key} is null"
    if isinstance(value, (list, tuple, set, frozenset)):
        word = "contains all" if kind == "set" else "in"
        return f"{key} {word} {listed(columns, key, value)}"
    if kind == "set":
        return f"{key} contains any {listed(columns, key, [value])}"
    return f"{key} = {literal(columns, key, value)}"


def condition(columns: Mapping[str, str], given: Any) -> str | None:
    """A filter as a condition: text as it is, a dict as equalities that all hold."""
    if given is None or isinstance(given, str):
        return given
    if not isinstance(given, Mapping):
        raise WrongType(f"filter: {type(given).__name__} is neither a condition as text nor a dict "
                        "from keys to values")
    return " and ".join(equality(columns, key, value) for key, value in given.items()) or None


def _text(value: Any) -> str | None:
    return quoted(value) if isinstance(value, str) else None


def _number(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        return None
    return repr(value)


def _bool(value: Any) -> str | None:
    """Also from 0 and 1, since filters of LlamaIndex have no bools."""
    if isinstance(value, (bool, int)) and value in (0, 1):
        return "true" if value else "false"
    return None


def _moment(value: Any) -> str | None:
    if isinstance(value, (datetime.datetime, datetime.date)):
        return quoted(value.isoformat())
    return _text(value) if isinstance(value, str) else _number(value)


_WRITTEN: dict[str, Callable[[Any], str | None]] = {
    "u64": _number, "i64": _number, "f64": _number, "bool": _bool, "timestamp": _moment,
    "string": _text, "set": _text}
