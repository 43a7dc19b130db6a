"""Documents in a collection: what the stores of LangChain and LlamaIndex have in common.

A row is a document. Its id is a hash of the document's own id, which is a text and a column; the
text and the whole metadata are columns too. Keys of metadata that the user declares with a type
have further columns, which conditions may name.
"""

import dataclasses
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from farvec._arrays import MOST_ID
from farvec._farvec import Collection
from farvec.errors import InvalidArgument, WrongType

COLUMNS = {"_id": "bytes not null", "_text": "bytes not null", "_metadata": "bytes not null"}
PAGE = 10_000  # rows


@dataclasses.dataclass(frozen=True)
class Stored:
    """A document as it lies in its row."""

    number: int
    id: str
    text: str
    metadata: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Making:
    """How a collection is made where there is none; what is None is the default, and not compared
    with a collection that is there."""

    dimension: Callable[[], int]
    schema: Mapping[str, str] | None = None
    metric: str | None = None
    options: Mapping[str, Any] | None = None


def number_of(id: str) -> int:
    """The 64 bits that stand for a document's id; the largest number stands for none."""
    if not isinstance(id, str):
        raise WrongType(f"ids: {type(id).__name__} {id!r} is no text")
    return int.from_bytes(hashlib.blake2b(id.encode(), digest_size=8).digest(), "little") % MOST_ID


def relevance(metric: str, distance: float) -> float:
    """How alike two vectors are: where their length is one, the cosine between them."""
    return {"l2": 1 - distance / 2, "ip": -distance, "cosine": 1 - distance}[metric]


class Documents:
    """A collection of documents, which any thread may call.

    Args:
        where: An open collection, which stays the caller's to close, or a folder, in which one is
            opened or made.
        own: Names and types of the columns that the store has besides those of the user.
        making: How one is made, and what one that is there has to have.
    """

    def __init__(self, where: Collection | str | os.PathLike[str], own: Mapping[str, str],
                 making: Making) -> None:
        self._is_mine = not isinstance(where, Collection)
        self.collection = where if isinstance(where, Collection) else _opened(where, own, making)
        facts = self.collection.describe()
        self.metric: str = facts["metric"]
        kinds = {column["name"]: column["type"] for column in facts.get("schema", ())}
        self.columns = {name: kind for name, kind in kinds.items() if name not in own}
        try:
            _check(kinds, own, self.columns, making, self.metric)
        except InvalidArgument:
            self.close()
            raise

    def close(self) -> None:
        """Close the collection, if it was opened here."""
        if self._is_mine:
            self.collection.close()

    def put(self, ids: Sequence[str], texts: Sequence[str], metadatas: Sequence[Mapping[str, Any]],
            vectors: Sequence[Any], cells: Mapping[str, Sequence[Any]]) -> None:
        """Insert documents, or put them in the place of those with their ids.

        Args:
            ids: The last one counts where one comes twice.
            texts, metadatas, vectors: One for each id.
            cells: Values for the columns besides those of COLUMNS.
        """
        last = sorted({id: row for row, id in enumerate(ids)}.values())
        if not last:
            return
        numbers = self._numbers_to_put([ids[row] for row in last])
        attributes = {
            "_id": [ids[row].encode() for row in last],
            "_text": [texts[row].encode() for row in last],
            "_metadata": [_json(metadatas[row], ids[row]) for row in last],
            **{name: [values[row] for row in last] for name, values in cells.items()}}
        self.collection.insert(numbers, [vectors[row] for row in last], attributes=attributes)

    def cells(self, metadatas: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
        """The values of the declared columns, in metadata of documents."""
        return {name: [metadata.get(name) for metadata in metadatas] for name in self.columns}

    def present(self, ids: Sequence[str]) -> list[int]:
        """The rows of those ids that are there, in their order, each once."""
        numbers = {number_of(id): id for id in ids}
        stored = self.collection.attributes(list(numbers), select=["_id"])["_id"]
        return [number for (number, id), there in zip(numbers.items(), stored)
                if there == id.encode()]

    def rows(self, numbers: Sequence[int]) -> list[Stored]:
        """The documents of those rows that are there."""
        columns = self.collection.attributes(numbers, select=list(COLUMNS))
        return [Stored(number, id.decode(), text.decode(), json.loads(metadata))
                for number, id, text, metadata in zip(numbers, *columns.values()) if id is not None]

    def remove(self, ids: Sequence[str]) -> None:
        """Delete documents; ids that are not there are no error."""
        self.remove_rows(self.present(ids))

    def remove_rows(self, numbers: Sequence[int]) -> None:
        """Delete rows."""
        if numbers:
            self.collection.delete(numbers)

    def search(self, vector: Any, k: int, condition: str | None,
               **search: Any) -> list[tuple[Stored, float]]:
        """The nearest documents and their distances, nearest first."""
        found = self.collection.search(numpy.asarray(vector).tolist(), k, filter=condition, **search)
        numbers = [int(number) for number in found.ids if number != MOST_ID]
        distances = dict(zip(numbers, found.distances.tolist()))
        return [(stored, distances[stored.number]) for stored in self.rows(numbers)]

    def where(self, condition: str) -> list[int]:
        """All rows that meet a condition."""
        return [int(number) for ids, _ in self.collection.scroll(condition, limit=PAGE, select=[])
                for number in ids]

    def remove_where(self, condition: str) -> None:
        """Delete all rows that meet a condition."""
        self.collection.delete(filter=condition)

    def _numbers_to_put(self, ids: Sequence[str]) -> list[int]:
        """The rows of ids, none of which is another id's."""
        numbers = [number_of(id) for id in ids]
        there = self.collection.attributes(numbers, select=["_id"])["_id"]
        owners: dict[int, str] = {}
        for number, id, stored in zip(numbers, ids, there):
            owner = owners.setdefault(number, id if stored is None else stored.decode())
            if owner != id:
                raise InvalidArgument(f"ids: {id!r} and {owner!r} have the same hash of 64 bits, "
                                      f"{number}: give one of the two documents another id")
        return numbers


def _opened(path: str | os.PathLike[str], own: Mapping[str, str], making: Making) -> Collection:
    is_served = os.fspath(path).startswith("grpc://")
    if not is_served and not (os.path.isdir(path) and os.listdir(path)):
        schema = dict(making.schema or {})
        taken = [name for name in schema if name in own]
        if taken:
            raise InvalidArgument(f"schema: {taken[0]!r} is a column of the store itself: the keys "
                                  f"{', '.join(own)} cannot be declared")
        Collection.create(path, making.dimension(), metric=making.metric or "cosine",
                          schema={**own, **schema}, **(making.options or {}))
    return Collection(path)


def _check(kinds: Mapping[str, str], own: Mapping[str, str], columns: Mapping[str, str],
           making: Making, metric: str) -> None:
    """Refuse a collection of something else than was asked for."""
    missing = [name for name, kind in own.items() if kinds.get(name) != kind.split()[0]]
    if missing:
        raise InvalidArgument(f"the collection has no column {missing[0]!r}, which this store keeps "
                              "its documents in: let the store make it, in a new folder")
    asked = {name: kind.split()[0] for name, kind in (making.schema or {}).items()}
    if making.schema is not None and asked != columns:
        raise InvalidArgument(f"schema: the collection was made with {dict(columns)}, and not with "
                              f"{asked}: leave the schema out, or make another collection")
    if making.metric not in (None, metric):
        raise InvalidArgument(f"metric: the collection was made with {metric!r}, and not with "
                              f"{making.metric!r}")


def _json(metadata: Mapping[str, Any], id: str) -> bytes:
    try:
        return json.dumps(dict(metadata), ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        wrong = next((key for key, value in metadata.items() if not _is_json(value)), None)
        raise InvalidArgument(f"metadata of {id!r}: the value of {wrong!r} cannot be kept as JSON: "
                              f"{error}: give text, numbers, lists or dicts") from error


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (TypeError, ValueError):
        return False
    return True
