"""A vector store for LlamaIndex: ``pip install farvec[llamaindex]``.

    from farvec.llamaindex import FarvecVectorStore
    store = FarvecVectorStore("nodes.farvec", dimension=1536, schema={"year": "i64"})

docs/use/frameworks.md has the whole story.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from farvec import _conditions, _documents
from farvec._async import in_executor
from farvec._documents import Documents, Making, Stored
from farvec._farvec import Collection
from farvec.errors import InvalidArgument

try:
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.schema import BaseNode, MetadataMode, Node
    from llama_index.core.vector_stores.types import (
        BasePydanticVectorStore,
        MetadataFilters,
        VectorStoreQuery,
        VectorStoreQueryMode,
        VectorStoreQueryResult,
    )
    from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict
except ImportError as error:
    raise ImportError(f"farvec.llamaindex needs llama-index-core ({error}): "
                      "pip install farvec[llamaindex]") from error

from farvec import _llamaindex_filters  # noqa: E402  (it needs llama-index-core too)

COLUMNS = {**_documents.COLUMNS, "_document": "string"}


class FarvecVectorStore(BasePydanticVectorStore):
    """Nodes in a collection of farvec; any thread may call it.

    Metadata filters name keys that ``schema`` declares. All of LlamaIndex's operators are there but
    ``text_match`` and ``text_match_insensitive``; of the ways to query there is ``DEFAULT``.

    Args:
        collection: A folder, in which the collection is opened, or made where there is none; or an
            open collection that was made by this class, which stays the caller's to close.
        dimension: Of the vectors of a new collection.
        schema: Keys of metadata that filters may name, and their types: ``{"year": "i64", "tags":
            "set"}``. None: as the collection has it; a new one has none.
        metric: ``cosine``, ``ip`` or ``l2``. None: as the collection has it; a new one has cosine.
        options: Further arguments of :meth:`farvec.Collection.create`, for a new collection.

    Raises:
        InvalidArgument: The collection has another schema or metric, or no nodes.
        Error: It is damaged, or another process has it open.
    """

    stores_text: bool = True
    is_embedding_query: bool = True
    _documents: Documents = PrivateAttr()

    def __init__(self, collection: Collection | str | os.PathLike[str], *,
                 dimension: int | None = None, schema: Mapping[str, str] | None = None,
                 metric: str | None = None, options: Mapping[str, Any] | None = None) -> None:
        def known_dimension() -> int:
            if dimension is None:
                raise InvalidArgument(f"dimension: there is no collection in {collection} yet: say "
                                      "how many numbers the vectors of a new one have")
            return dimension

        super().__init__(stores_text=True)
        self._documents = Documents(collection, COLUMNS,
                                    Making(known_dimension, schema, metric, options))

    @classmethod
    def class_name(cls) -> str:
        """The name of the class."""
        return "FarvecVectorStore"

    @property
    def client(self) -> Collection:
        """The collection itself."""
        return self._documents.collection

    def close(self) -> None:
        """Close the collection, if it was opened here."""
        self._documents.close()

    def __enter__(self) -> "FarvecVectorStore":
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()

    def add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """Add nodes with their embeddings, or put them in the place of those with their ids."""
        ids = [node.node_id for node in nodes]
        cells = self._documents.cells([node.metadata for node in nodes])
        for name, values in cells.items():
            if self._documents.columns[name] == "set":
                cells[name] = [value or None for value in values]  # is_empty has no other way
        cells["_document"] = [node.ref_doc_id for node in nodes]
        self._documents.put(
            ids, [_text(node) for node in nodes], [_content(node) for node in nodes],
            [node.get_embedding() for node in nodes], cells)
        return ids

    def get_nodes(self, node_ids: list[str] | None = None,
                  filters: MetadataFilters | None = None) -> list[BaseNode]:
        """The nodes of these ids that meet these filters; None: of all ids, or without filters."""
        return [_node(stored) for stored in self._documents.rows(self._chosen(node_ids, filters))]

    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """Delete the nodes of a document."""
        self._documents.remove_where(f"_document = {_conditions.quoted(ref_doc_id)}")

    def delete_nodes(self, node_ids: list[str] | None = None,
                     filters: MetadataFilters | None = None, **delete_kwargs: Any) -> None:
        """Delete the nodes of these ids that meet these filters."""
        if node_ids is not None:
            self._documents.remove_rows(self._chosen(node_ids, filters))
            return
        condition = _llamaindex_filters.condition(self._documents.columns, filters)
        if condition is None:
            raise InvalidArgument("delete_nodes: give node_ids or filters; clear() deletes all")
        self._documents.remove_where(condition)

    def clear(self) -> None:
        """Delete all nodes."""
        self._documents.remove_where("true")

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """The nodes most like the query's embedding, that meet its filters and are of its ids.

        Args:
            query: Its mode is DEFAULT.
            kwargs: Arguments of :meth:`farvec.Collection.search`: ``list=200``.

        Returns:
            Nodes and similarities: where vectors have length one, the cosine between them.
        """
        if query.mode != VectorStoreQueryMode.DEFAULT:
            raise InvalidArgument(f"query: the mode {query.mode.value!r} is not there: farvec has "
                                  "'default'")
        if query.query_embedding is None:
            raise InvalidArgument("query: it has no query_embedding, and farvec embeds no texts")
        found = self._documents.search(query.query_embedding, query.similarity_top_k,
                                       self._condition_of(query), **kwargs)
        metric = self._documents.metric
        return VectorStoreQueryResult(
            nodes=[_node(stored) for stored, _ in found],
            similarities=[_documents.relevance(metric, distance) for _, distance in found],
            ids=[stored.id for stored, _ in found])

    async def async_add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """add() in the event loop's executor."""
        ids: list[str] = await in_executor(self.add, [nodes], kwargs)
        return ids

    async def aget_nodes(self, node_ids: list[str] | None = None,
                         filters: MetadataFilters | None = None) -> list[BaseNode]:
        """get_nodes() in the event loop's executor."""
        nodes: list[BaseNode] = await in_executor(self.get_nodes, [node_ids, filters], {})
        return nodes

    async def adelete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """delete() in the event loop's executor."""
        await in_executor(self.delete, [ref_doc_id], delete_kwargs)

    async def adelete_nodes(self, node_ids: list[str] | None = None,
                            filters: MetadataFilters | None = None, **delete_kwargs: Any) -> None:
        """delete_nodes() in the event loop's executor."""
        await in_executor(self.delete_nodes, [node_ids, filters], delete_kwargs)

    async def aclear(self) -> None:
        """clear() in the event loop's executor."""
        await in_executor(self.clear, [], {})

    async def aquery(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """query() in the event loop's executor."""
        found: VectorStoreQueryResult = await in_executor(self.query, [query], kwargs)
        return found

    def _chosen(self, node_ids: list[str] | None, filters: MetadataFilters | None) -> list[int]:
        """The rows of the nodes of these ids that meet these filters."""
        condition = _llamaindex_filters.condition(self._documents.columns, filters)
        if node_ids is None:
            return self._documents.where(condition or "true")
        found = self._documents.present(node_ids)
        if condition is None or not found:
            return found
        met = set(self._documents.where(f"({condition}) and {_among(found)}"))
        return [number for number in found if number in met]

    def _condition_of(self, query: VectorStoreQuery) -> str | None:
        filters = _llamaindex_filters.condition(self._documents.columns, query.filters)
        parts = [] if filters is None else [f"({filters})"]
        if query.doc_ids:  # an index asks with empty lists for all
            parts.append("_document in " + _conditions.listed(COLUMNS, "_document", query.doc_ids))
        if query.node_ids:
            parts.append(_among(self._documents.present(query.node_ids)))
        return " and ".join(parts) or None


def _among(numbers: Sequence[int]) -> str:
    return f"id in ({', '.join(map(str, numbers))})"


def _is_text(node: BaseNode) -> bool:
    """Whether the node comes back as a TextNode. The others are a Node, which may have no text."""
    return bool(node.class_name() != Node.class_name())


def _text(node: BaseNode) -> str:
    return node.get_content(metadata_mode=MetadataMode.NONE) if _is_text(node) else ""


def _content(node: BaseNode) -> dict[str, Any]:
    """The node without the text that is kept beside it."""
    content = node_to_metadata_dict(node, remove_text=_is_text(node))
    return {name: content[name] for name in ("_node_content", "_node_type")}


def _node(stored: Stored) -> BaseNode:
    node = metadata_dict_to_node(stored.metadata)
    if _is_text(node):
        node.set_content(stored.text)
    return node
