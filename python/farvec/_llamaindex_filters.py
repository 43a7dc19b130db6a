"""Metadata filters of LlamaIndex as conditions of farvec.

They mean what LlamaIndex says that they mean, where a node without a value is concerned: it meets
``!=``, ``nin`` and ``is_empty``, and nothing else.
"""

from collections.abc import Mapping

from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from farvec import _conditions
from farvec.errors import InvalidArgument

_COMPARISONS = {FilterOperator.EQ: "=", FilterOperator.GT: ">", FilterOperator.GTE: ">=",
                FilterOperator.LT: "<", FilterOperator.LTE: "<=", FilterOperator.NE: "!="}
_LISTS = {FilterOperator.IN: "in", FilterOperator.NIN: "not in",
          FilterOperator.ANY: "contains any", FilterOperator.ALL: "contains all"}
_LABELS = (FilterOperator.ANY, FilterOperator.ALL, FilterOperator.CONTAINS)
_MET_BY_NONE = (FilterOperator.NE, FilterOperator.NIN)


def condition(columns: Mapping[str, str], filters: MetadataFilters | None) -> str | None:
    """What the filters ask for; None where that is nothing.

    Args:
        columns: Names and types of the columns that may be named.
        filters: In each other as deep as one likes, as far as farvec takes that.
    """
    if filters is None or not filters.filters:
        return None
    parts = [_part(columns, part) for part in filters.filters]
    if filters.condition in (None, FilterCondition.AND):
        return " and ".join(parts)
    if filters.condition == FilterCondition.OR:
        return " or ".join(parts)
    return f"not ({' or '.join(parts)})"


def _part(columns: Mapping[str, str], part: MetadataFilter | MetadataFilters) -> str:
    if isinstance(part, MetadataFilters):
        return f"({condition(columns, part) or 'true'})"
    kind = _conditions.column_type(columns, part.key)
    if part.operator == FilterOperator.IS_EMPTY:
        return f"({part.key} is null or {part.key} = '')" if kind == "string" else f"{part.key} is null"
    asked = f"{part.key} {_test(columns, part, kind)}"
    if part.operator in _MET_BY_NONE:
        return f"({part.key} is null or {asked})"
    return f"({part.key} is not null and {asked})"


def _test(columns: Mapping[str, str], part: MetadataFilter, kind: str) -> str:
    """What stands after the name of the column."""
    operator, value = part.operator, part.value
    wants_list = operator in _LISTS
    if not wants_list and operator not in _COMPARISONS and operator != FilterOperator.CONTAINS:
        raise InvalidArgument(f"filters: the operator {operator.value!r} of {part.key!r} is not "
                              "there: farvec has ==, !=, <, <=, >, >=, in, nin, any, all, contains "
                              "and is_empty")
    if (operator in _LABELS) != (kind == "set"):
        raise InvalidArgument(f"filters: {part.key!r} is {kind}, and the operator "
                              f"{operator.value!r} is for {'others' if kind == 'set' else 'a set'}")
    if value is None or isinstance(value, list) != wants_list:
        raise InvalidArgument(f"filters: the operator {operator.value!r} of {part.key!r} wants "
                              f"{'a list' if wants_list else 'one value'}, and has {value!r}"
                              f"{': is_empty finds what has none' if value is None else ''}")
    if isinstance(value, list):
        return f"{_LISTS[operator]} {_conditions.listed(columns, part.key, value)}"
    if operator == FilterOperator.CONTAINS:
        return f"contains any {_conditions.listed(columns, part.key, [value])}"
    return f"{_COMPARISONS[operator]} {_conditions.literal(columns, part.key, value)}"
