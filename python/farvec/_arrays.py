"""Arguments that are to be vectors or ids, as plain arrays; what they are not is refused by name."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy

from farvec.errors import InvalidArgument, WrongType

VECTOR_TYPES = ("float32", "float16", "uint8", "int8", "bool")
MOST_ID = 2**64 - 1


def _is_masked(value: Any) -> bool:
    """Whether it is a masked array, or gives one where an array is asked for."""
    if isinstance(value, (numpy.ndarray, numpy.generic)) or not hasattr(value, "__array__"):
        return isinstance(value, numpy.ma.MaskedArray)
    return isinstance(numpy.asanyarray(value), numpy.ma.MaskedArray)


def _refuse_masks(value: Any, name: str) -> None:
    """Refuse a masked array, also as a row of a list: farvec has no mask."""
    if _is_masked(value):
        raise InvalidArgument(
            f"{name}: a masked array, whose mask would be lost: leave out the rows that it hides, "
            f"or say what stands there by {name}.filled(...)")
    if isinstance(value, (list, tuple)):
        for item in value:
            if isinstance(item, (list, tuple)) or hasattr(item, "__array__"):
                _refuse_masks(item, name)


def _is_text(value: Any) -> bool:
    return isinstance(value, (str, bytes, bytearray))


def _as_numpy(value: Any, name: str, what: str) -> numpy.ndarray:
    listed = isinstance(value, (list, tuple, range))
    if _is_text(value) or not (listed or hasattr(value, "__array__") or hasattr(value, "__dlpack__")
                               or _has_buffer(value)):
        raise WrongType(f"{name}: {type(value).__name__} is not {what}")
    try:
        has_array = listed or hasattr(value, "__array__") or not hasattr(value, "__dlpack__")
        array = numpy.asarray(value) if has_array else numpy.from_dlpack(value)
    except Exception as error:
        raise InvalidArgument(f"{name}: it is not {what}: {error}") from error
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def rows(value: Any, name: str, dtype: str, round_doubles: bool) -> numpy.ndarray:
    """Vectors of one of VECTOR_TYPES.

    Args:
        value: An array, or lists of numbers, which become ``dtype``.
        name: Of the argument.
        dtype: One of VECTOR_TYPES.
        round_doubles: Whether an array of float64 becomes ``dtype`` too, with a warning.
    """
    _refuse_masks(value, name)
    array = _as_numpy(value, name, "an array of vectors, nor lists of numbers")
    if array.dtype.name in VECTOR_TYPES:
        return array
    if isinstance(value, (list, tuple, range)) and array.dtype.kind in "fiu":
        return _converted(array, name, dtype)
    if round_doubles and array.dtype == numpy.float64:
        warnings.warn(f"{name} is float64, and its values are rounded to {dtype}: "
                      f"{name}.astype(numpy.{dtype}) does it once", UserWarning, stacklevel=2)
        return _converted(array, name, dtype)
    raise InvalidArgument(f"{name}: its elements are {array.dtype}, not float32, float16, uint8, "
                          f"int8 or bool: convert it, as {name}.astype(numpy.float32)")


def _converted(array: numpy.ndarray, name: str, dtype: str) -> numpy.ndarray:
    with numpy.errstate(all="ignore"):
        converted = array.astype(dtype)
        if dtype in ("uint8", "int8"):
            wrong = converted != array
        else:
            wrong = numpy.isinf(converted) & numpy.isfinite(array)
    if numpy.any(wrong):
        raise InvalidArgument(f"{name}: {array[wrong].flat[0]} is not a value of {dtype}")
    return converted


def distances(value: Any, name: str) -> numpy.ndarray:
    """Numbers as float32, of the shape that they were given in."""
    _refuse_masks(value, name)
    array = _as_numpy(value, name, "an array of distances, nor lists of numbers")
    if array.dtype.kind not in "fiu":
        raise InvalidArgument(f"{name}: its elements are {array.dtype}: distances are numbers")
    with numpy.errstate(all="ignore"):
        return numpy.ascontiguousarray(array, numpy.float32)


def ids(value: Any, name: str) -> numpy.ndarray:
    """Ids as uint64, of the shape that they were given in; nothing but integers is taken."""
    _refuse_masks(value, name)
    if isinstance(value, (list, tuple)):
        return _listed_ids(value, name)
    if isinstance(value, (int, numpy.integer, numpy.bool_)):
        return numpy.asarray(_id(value, name), numpy.uint64)
    array = _as_numpy(value, name, "a list of ids")
    if array.dtype.kind not in "iu":
        raise InvalidArgument(f"{name}: its elements are {array.dtype}: ids are integers")
    if array.dtype.kind == "i" and array.size > 0 and array.min() < 0:
        raise InvalidArgument(f"{name}: {array.min()} is negative: ids are 0 to 2**64 - 1")
    return array.astype(numpy.uint64)


def _listed_ids(value: Iterable[Any], name: str) -> numpy.ndarray:
    items = list(value)
    if not any(isinstance(item, (list, tuple, range)) or numpy.ndim(item) > 0 for item in items):
        return numpy.array([_id(item, name) for item in items], numpy.uint64)
    rows_of_ids = [ids(item, name) for item in items]
    if len({row.shape for row in rows_of_ids}) > 1:
        raise InvalidArgument(f"{name}: its rows are not all as long")
    return numpy.stack(rows_of_ids)


def _id(value: Any, name: str) -> int:
    is_array = isinstance(value, numpy.ndarray) and value.dtype.kind in "iu"  # without a dimension
    if isinstance(value, bool) or not (isinstance(value, (int, numpy.integer)) or is_array):
        raise InvalidArgument(f"{name}: {_shown(value)} is no integer: ids are integers")
    number = int(value)
    if not 0 <= number <= MOST_ID:
        raise InvalidArgument(f"{name}: {_shown(number)} is out of range: ids are 0 to 2**64 - 1")
    return number


def _shown(value: Any) -> str:
    text = f"{type(value).__name__} {value!r}" if not isinstance(value, int) else repr(value)
    return text if len(text) < 60 else text[:57] + "..."
