"""A vector store for LangChain: ``pip install farvec[langchain]``.

    from farvec.langchain import FarvecVectorStore
    store = FarvecVectorStore("docs.farvec", embedding, schema={"year": "i64"})

docs/use/frameworks.md has the whole story.
"""

import os
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy

from farvec import _conditions, _documents
from farvec._documents import Documents, Making, Stored
from farvec._farvec import Collection
from farvec.errors import InvalidArgument

try:
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import VectorStore
    from langchain_core.vectorstores.utils import maximal_marginal_relevance
except ImportError as error:
    raise ImportError(f"farvec.langchain needs langchain-core ({error}): "
                      "pip install farvec[langchain]") from error

Filter = str | Mapping[str, Any]


class FarvecVectorStore(VectorStore):
    """Documents in a collection of farvec; any thread may call it.

    A filter is a condition of farvec (``"year >= 2020 and lang in ('en', 'de')"``), or a dict of
    values that keys have: ``{"year": 2020}``. It names keys of metadata that ``schema`` declares.
    Further arguments of a search are those of :meth:`farvec.Collection.search`: ``list=200``.

    Args:
        collection: A folder, in which the collection is opened, or made where there is none; or an
            open collection that was made by this class, which stays the caller's to close.
        embedding: What makes vectors of texts.
        schema: Keys of metadata that filters may name, and their types: ``{"year": "i64", "tags":
            "set"}``. None: as the collection has it; a new one has none.
        metric: ``cosine``, ``ip`` or ``l2``. None: as the collection has it; a new one has cosine.
        dimension: Of the vectors of a new collection. None: a text is embedded to see it.
        options: Further arguments of :meth:`farvec.Collection.create`, for a new collection.
        relevance: The relevance of a distance. None: the cosine between vectors of length one.

    Raises:
        InvalidArgument: The collection has another schema or metric, or no documents.
        Error: It is damaged, or another process has it open.
    """

    def __init__(self, collection: Collection | str | os.PathLike[str], embedding: Embeddings, *,
                 schema: Mapping[str, str] | None = None, metric: str | None = None,
                 dimension: int | None = None, options: Mapping[str, Any] | None = None,
                 relevance: Callable[[float], float] | None = None) -> None:
        making = Making(lambda: dimension or len(embedding.embed_query("farvec")), schema, metric,
                        options)
        self._embedding = embedding
        self._documents = Documents(collection, _documents.COLUMNS, making)
        self._relevance = relevance

    @classmethod
    def from_texts(cls, texts: list[str], embedding: Embeddings,
                   metadatas: list[dict[str, Any]] | None = None, *, ids: list[str] | None = None,
                   **kwargs: Any) -> "FarvecVectorStore":
        """Open or make a store and add texts to it.

        Args:
            texts, metadatas, ids: As :meth:`add_texts`.
            embedding: What makes vectors of texts.
            kwargs: ``collection``, and other arguments of the class.
        """
        if "collection" not in kwargs:
            raise InvalidArgument("from_texts: collection is missing: give the folder of the store")
        store = cls(embedding=embedding, **kwargs)
        try:
            store.add_texts(texts, metadatas, ids=ids)
        except BaseException:
            store.close()
            raise
        return store

    @property
    def embeddings(self) -> Embeddings:
        """What makes vectors of texts."""
        return self._embedding

    @property
    def collection(self) -> Collection:
        """The collection itself."""
        return self._documents.collection

    def close(self) -> None:
        """Close the collection, if it was opened here."""
        self._documents.close()

    def __enter__(self) -> "FarvecVectorStore":
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()

    def add_texts(self, texts: Iterable[str], metadatas: Sequence[Mapping[str, Any]] | None = None,
                  *, ids: Sequence[str | None] | None = None, **kwargs: Any) -> list[str]:
        """Add texts, or put them in the place of those with their ids.

        Args:
            texts: Those to embed.
            metadatas: One for each, whose values JSON has.
            ids: One for each; one that is None, or all of them, becomes a random id.
            kwargs: Not looked at; LangChain's indexing brings ``batch_size``.

        Returns:
            The ids.
        """
        given = list(texts)
        kept: list[Mapping[str, Any]] = [{} for _ in given] if metadatas is None else list(metadatas)
        named = [id or str(uuid.uuid4()) for id in (ids or [None] * len(given))]
        for name, values in (("metadatas", kept), ("ids", named)):
            if len(values) != len(given):
                raise InvalidArgument(f"{name}: {len(values)} for {len(given)} texts")
        if given:
            self._documents.put(named, given, kept, self._embedding.embed_documents(given),
                                self._documents.cells(kept))
        return named

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Delete documents: those of the ids, which may not be there, or all (None)."""
        if ids is None:
            self._documents.remove_where("true")
        else:
            self._documents.remove(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Those documents that are there, in the order of the ids."""
        return [_document(stored) for stored in self._documents.rows(self._documents.present(ids))]

    def similarity_search(self, query: str, k: int = 4, filter: Filter | None = None,
                          **kwargs: Any) -> list[Document]:
        """The k documents whose texts are most like the query."""
        return self.similarity_search_by_vector(self._embedding.embed_query(query), k, filter,
                                                **kwargs)

    def similarity_search_by_vector(self, embedding: list[float], k: int = 4,
                                    filter: Filter | None = None, **kwargs: Any) -> list[Document]:
        """The k documents nearest to a vector."""
        return [_document(stored) for stored, _ in self._found(embedding, k, filter, kwargs)]

    def similarity_search_with_score(self, query: str, k: int = 4, filter: Filter | None = None,
                                     **kwargs: Any) -> list[tuple[Document, float]]:
        """The k nearest documents and their distances, which are smaller the more alike they are:
        squared distances (l2), negative inner products (ip), or 1 - cosine."""
        found = self._found(self._embedding.embed_query(query), k, filter, kwargs)
        return [(_document(stored), distance) for stored, distance in found]

    def max_marginal_relevance_search(self, query: str, k: int = 4, fetch_k: int = 20,
                                      lambda_mult: float = 0.5, filter: Filter | None = None,
                                      **kwargs: Any) -> list[Document]:
        """k documents like the query and unlike each other; see the search by vector."""
        return self.max_marginal_relevance_search_by_vector(
            self._embedding.embed_query(query), k, fetch_k, lambda_mult, filter, **kwargs)

    def max_marginal_relevance_search_by_vector(self, embedding: list[float], k: int = 4,
                                                fetch_k: int = 20, lambda_mult: float = 0.5,
                                                filter: Filter | None = None,
                                                **kwargs: Any) -> list[Document]:
        """k documents near a vector and far from each other.

        Args:
            embedding: The vector.
            k: Documents wanted.
            fetch_k: Nearest documents among which they are chosen.
            lambda_mult: 1: the nearest ones; 0: those that differ most.
            filter: A condition that all of them meet.
            kwargs: Of the search.
        """
        found = {stored.number: stored
                 for stored, _ in self._found(embedding, fetch_k, filter, kwargs)}
        there, vectors = self.collection.get(list(found))
        stored = [one for one, is_there in zip(found.values(), there) if is_there]
        chosen = maximal_marginal_relevance(numpy.array(embedding), vectors.astype(float).tolist(),
                                            lambda_mult, k)
        return [_document(stored[place]) for place in chosen]

    def _found(self, vector: list[float], k: int, filter: Filter | None,
               search: Mapping[str, Any]) -> list[tuple[Stored, float]]:
        condition = _conditions.condition(self._documents.columns, filter)
        return self._documents.search(vector, k, condition, **search)

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        metric = self._documents.metric
        return self._relevance or (lambda distance: _documents.relevance(metric, distance))


def _document(stored: Stored) -> Document:
    return Document(id=stored.id, page_content=stored.text, metadata=stored.metadata)
