"""The store of LlamaIndex: every method of its base class, and its filters beside what it says
itself that they mean.

Where llama-index-core is not installed there is nothing to try: run_with_frameworks.sh installs it.
"""

import asyncio
import inspect
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")

from llama_index.core import Settings, StorageContext, VectorStoreIndex  # noqa: E402
from llama_index.core.embeddings import MockEmbedding  # noqa: E402
from llama_index.core.schema import (  # noqa: E402
    Document,
    ImageNode,
    IndexNode,
    MediaResource,
    Node,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.vector_stores.types import (  # noqa: E402
    BasePydanticVectorStore,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from llama_index.core.vector_stores.utils import build_metadata_filter_fn  # noqa: E402

import farvec  # noqa: E402
from conftest import distances, vectors  # noqa: E402
from farvec import _documents  # noqa: E402
from farvec.llamaindex import FarvecVectorStore  # noqa: E402
from frameworks import ODD_TEXTS, snippets_of  # noqa: E402

ROWS, DIMENSION = 60, 16
SCHEMA = {"year": "i64", "lang": "string", "score": "f64", "open": "bool", "at": "timestamp", "tags": "set"}
EMBEDDINGS = vectors(ROWS, seed=4, dimension=DIMENSION)


def metadata_of(i):
    if i % 10 == 9:
        return {} if i % 20 == 9 else {"lang": "", "tags": [], "other": i}
    return {"year": 2000 + i % 5, "lang": ("en", "de", "it's")[i % 3], "score": i / 4, "open": i % 2 == 0,
            "at": f"2024-01-{i % 28 + 1:02}", "tags": [f"t{i % 4}", f"u{i % 3}"], "nested": {"ü": [i]}}


def node_of(i):
    return TextNode(id_=f"node-{i}", text=f"text {i}", embedding=EMBEDDINGS[i].tolist(), metadata=metadata_of(i),
                    relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"doc-{i // 10}")})


NODES = [node_of(i) for i in range(ROWS)]
IDS = [node.node_id for node in NODES]


@pytest.fixture()
def store(tmp_path):
    with FarvecVectorStore(tmp_path / "set", dimension=DIMENSION, schema=SCHEMA) as opened:
        assert opened.add(NODES) == IDS
        yield opened


def ids_of(nodes):
    return sorted(node.node_id for node in nodes)


def filters_of(*parts, condition="and"):
    return MetadataFilters(condition=condition, filters=[
        part if isinstance(part, MetadataFilters) else
        MetadataFilter(key=part[0], operator=part[1], value=part[2]) for part in parts])


def meets(filters, metadata):
    """What LlamaIndex says of filters that are not in each other, and of those in each other by parts."""
    if any(isinstance(part, MetadataFilters) for part in filters.filters):
        parts = [meets(part if isinstance(part, MetadataFilters) else MetadataFilters(filters=[part]), metadata)
                 for part in filters.filters]
        return {"and": all, "or": any, "not": lambda found: not any(found)}[filters.condition.value](parts)
    return build_metadata_filter_fn(lambda id: metadata, filters)("id")


FILTERS = [
    filters_of(("year", "==", 2002)), filters_of(("year", "!=", 2002)), filters_of(("year", ">", 2002)),
    filters_of(("year", ">=", 2002)), filters_of(("score", "<", 3.5)), filters_of(("score", "<=", 3.5)),
    filters_of(("lang", "==", "it's")), filters_of(("lang", "!=", "en")), filters_of(("lang", ">", "de")),
    filters_of(("year", "==", 2002.0)), filters_of(("open", "==", 1)), filters_of(("open", "!=", 1)),
    filters_of(("at", "<", "2024-01-09")), filters_of(("year", "in", [2001, 2003])),
    filters_of(("year", "nin", [2001, 2003])), filters_of(("lang", "in", ["it's", "fr"])),
    filters_of(("lang", "nin", ["it's", ""])), filters_of(("year", "in", [])), filters_of(("year", "nin", [])),
    filters_of(("tags", "any", ["t1", "u2"])), filters_of(("tags", "all", ["t1", "u2"])),
    filters_of(("tags", "contains", "t3")), filters_of(("tags", "is_empty", None)),
    filters_of(("lang", "is_empty", None)), filters_of(("year", "is_empty", None)),
    filters_of(("year", "==", 2001), ("lang", "==", "de")),
    filters_of(("year", "==", 2001), ("lang", "==", "de"), condition="or"),
    filters_of(("year", "==", 2001), ("lang", "==", "de"), condition="not"),
    filters_of(("year", "!=", 2001), condition="not"), filters_of(("tags", "is_empty", None), condition="not"),
    filters_of(("score", ">", 2), filters_of(("year", "==", 2001), ("lang", "==", "de"), condition="or")),
    filters_of(filters_of(("year", ">", 2001), ("open", "==", 0)),
               filters_of(("tags", "contains", "t1"), filters_of(("lang", "==", "de"), condition="not")),
               condition="or"),
    filters_of(filters_of(("year", ">", 2001), condition="not"), condition="not"),
    filters_of(),
]


@pytest.mark.parametrize("filters", FILTERS, ids=range(len(FILTERS)))
def test_filters_mean_what_llamaindex_says(store, filters):
    wanted = [i for i in range(ROWS) if meets(filters, metadata_of(i))]
    assert ids_of(store.get_nodes(filters=filters)) == sorted(IDS[i] for i in wanted)
    query = vectors(1, seed=8, dimension=DIMENSION)
    near = distances("cosine", query, EMBEDDINGS)[0]
    order = sorted(wanted, key=lambda i: near[i])[:7]
    found = store.query(VectorStoreQuery(query[0].tolist(), similarity_top_k=7, filters=filters))
    assert found.ids == [IDS[i] for i in order]
    assert np.allclose(found.similarities, 1 - near[order], atol=1e-5)
    assert [node.metadata for node in found.nodes] == [metadata_of(i) for i in order]


@pytest.mark.parametrize("part, words", [
    (("colour", "==", 1), "no column 'colour': the schema is year: i64"),
    (("_document", "==", "doc-1"), "no column '_document'"),
    (("lang", "text_match", "e"), "operator 'text_match' of 'lang' is not there"),
    (("lang", "text_match_insensitive", "e"), "'text_match_insensitive'"),
    (("lang", "contains", "e"), "'lang' is string, and the operator 'contains' is for a set"),
    (("lang", "any", ["e"]), "for a set"),
    (("tags", "==", "t1"), "'tags' is set, and the operator '==' is for others"),
    (("tags", "in", ["t1"]), "for others"),
    (("year", "in", 2001), "wants a list, and has 2001"),
    (("year", "==", [2001]), "wants one value"),
    (("year", "==", None), "is_empty finds"),
    (("year", "==", "2001"), "'year' is i64, and is not compared with str '2001'"),
    (("open", "==", 2), "'open' is bool"),
    (("lang", "==", "a\0"), "zero byte"),
])
def test_filters_that_cannot_be_say_why(store, part, words):
    for filters in (filters_of(part), filters_of(filters_of(part), condition="not")):
        for call in (lambda: store.get_nodes(filters=filters), lambda: store.delete_nodes(filters=filters),
                     lambda: store.query(VectorStoreQuery([1.0] * DIMENSION, filters=filters))):
            with pytest.raises(farvec.InvalidArgument, match=words):
                call()
    assert len(store.client) == ROWS


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_texts_are_found_and_come_back(tmp_path, text):
    with FarvecVectorStore(tmp_path / "set", dimension=2, schema={"lang": "string"}) as store:
        nodes = [TextNode(id_=id, text=text, embedding=[1, 0], metadata={"lang": lang, text: text},
                          relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=lang)})
                 for id, lang in [("x!", "x"), (text + "!", text)]]
        store.add(nodes)
        found = store.get_nodes(filters=filters_of(("lang", "==", text)))
        assert [(node.node_id, node.text, node.metadata) for node in found] == [
            (text + "!", text, {"lang": text, text: text})]
        store.delete(text)
        assert ids_of(store.get_nodes()) == ["x!"]


def test_every_kind_of_node_comes_back_whole(tmp_path):
    nodes = [
        TextNode(text="a", metadata={"k": [1, {"ü": None}]}, excluded_embed_metadata_keys=["k"]),
        IndexNode(text="b", index_id="elsewhere", obj=None),
        ImageNode(text="c", image_url="http://x/y.png", image="aGk="),
        Node(text_resource=MediaResource(text="d"), image_resource=MediaResource(data=b"aGk=")),
        Document(text="e", metadata={"k": 1}),
    ]
    nodes[0].relationships = {NodeRelationship.NEXT: RelatedNodeInfo(node_id=nodes[1].node_id, metadata={"z": 1})}
    for node in nodes:
        node.embedding = [1.0, 2.0]
    with FarvecVectorStore(tmp_path / "set", dimension=2) as store:
        store.add(nodes)
        for node, found in zip(nodes, store.get_nodes([node.node_id for node in nodes])):
            expected = node.model_dump() | {"embedding": None}
            if not isinstance(node, Document):
                assert type(found) is type(node)
                assert found.model_dump() == expected
            assert (found.get_content(), found.metadata, found.node_id) == (
                node.get_content(), node.metadata, node.node_id)


def test_queries_are_of_documents_and_nodes(store):
    query = vectors(1, seed=8, dimension=DIMENSION)[0].tolist()

    def found(**asked):
        return sorted(store.query(VectorStoreQuery(query, similarity_top_k=100, **asked)).ids)

    assert found() == sorted(IDS)
    assert found(doc_ids=["doc-1", "nothing"]) == sorted(IDS[10:20])
    assert found(node_ids=["node-3", "node-15", "nothing"]) == ["node-15", "node-3"]
    assert found(node_ids=["node-3", "node-15"], doc_ids=["doc-1"]) == ["node-15"]
    assert found(node_ids=["nothing"]) == [] and found(doc_ids=["nothing"]) == []
    assert found(node_ids=[], doc_ids=[]) == sorted(IDS)
    assert found(doc_ids=["doc-1"], filters=filters_of(("year", "==", 2001), ("year", "==", 2002),
                                                       condition="or")) == sorted(
        IDS[i] for i in (11, 12, 16, 17))
    for mode in VectorStoreQueryMode:
        if mode != VectorStoreQueryMode.DEFAULT:
            with pytest.raises(farvec.InvalidArgument, match=f"the mode '{mode.value}' is not there"):
                store.query(VectorStoreQuery(query, mode=mode))
    with pytest.raises(farvec.InvalidArgument, match="no query_embedding"):
        store.query(VectorStoreQuery(query_str="text"))
    with pytest.raises(farvec.InvalidArgument, match="list"):
        store.query(VectorStoreQuery(query), list=0)


@pytest.mark.parametrize("metric", ["l2", "ip", "cosine"])
def test_similarity_is_the_cosine_of_vectors_of_length_one(tmp_path, metric):
    with FarvecVectorStore(tmp_path / "set", dimension=2, metric=metric) as store:
        store.add([TextNode(text="", embedding=row) for row in ([1, 0], [0.6, 0.8], [0, 1])])
        found = store.query(VectorStoreQuery([1.0, 0.0], similarity_top_k=3))
        assert np.allclose(found.similarities, [1, 0.6, 0], atol=1e-6)


def test_nodes_come_and_go(store):
    assert [node.node_id for node in store.get_nodes(["node-3", "nothing", "node-1"])] == ["node-3", "node-1"]
    assert ids_of(store.get_nodes()) == sorted(IDS) and store.get_nodes([]) == []
    early = filters_of(("year", "==", 2001))
    assert ids_of(store.get_nodes(["node-1", "node-2", "node-6"], early)) == ["node-1", "node-6"]
    store.delete("doc-1")
    store.delete("nothing")
    there = set(range(ROWS)) - set(range(10, 20))
    assert ids_of(store.get_nodes()) == sorted(IDS[i] for i in there)
    store.delete_nodes(["node-0", "node-12", "nothing"])
    store.delete_nodes([])
    store.delete_nodes(["node-1", "node-2"], early)
    store.delete_nodes(filters=filters_of(("year", "==", 2004)))
    there -= {0, 1} | {i for i in there if metadata_of(i).get("year") == 2004}
    assert ids_of(store.get_nodes()) == sorted(IDS[i] for i in there)
    for nothing in ({}, {"filters": filters_of()}):
        with pytest.raises(farvec.InvalidArgument, match="clear"):
            store.delete_nodes(**nothing)
    node = node_of(2)
    node.set_content("new")
    store.add([node_of(2), node])
    assert store.get_nodes(["node-2"])[0].get_content() == "new" and len(store.client) == len(there)
    store.clear()
    assert len(store.client) == 0 and store.get_nodes() == [] and store.add([]) == []


def test_coroutines_do_the_same_and_leave_the_loop_free(tmp_path):
    async def run():
        with FarvecVectorStore(tmp_path / "set", dimension=DIMENSION, schema=SCHEMA) as store:
            assert await store.async_add(NODES) == IDS
            query = VectorStoreQuery(EMBEDDINGS[3].tolist(), similarity_top_k=2)
            assert (await store.aquery(query)).ids == store.query(query).ids
            assert [node.node_id for node in await store.aget_nodes(["node-5"])] == ["node-5"]
            await store.adelete("doc-0")
            await store.adelete_nodes(["node-15"])
            await store.adelete_nodes(None, filters_of(("year", "==", 2004)))
            expected = [i for i in range(10, ROWS) if i != 15 and metadata_of(i).get("year") != 2004]
            assert ids_of(await store.aget_nodes()) == sorted(IDS[i] for i in expected)
            await store.aclear()
            assert await store.aget_nodes() == []

    asyncio.run(run())


def test_every_method_of_the_base_class_is_there():
    inherited = {"persist"}  # what was added is on the disk when add() returns
    for name in vars(BasePydanticVectorStore):
        if not name.startswith("_") and inspect.isfunction(getattr(BasePydanticVectorStore, name)):
            assert name in vars(FarvecVectorStore) or name in inherited, name


def test_what_is_there_is_opened_again(tmp_path, store):
    store.persist(str(tmp_path / "elsewhere"))
    store.close()
    with FarvecVectorStore(tmp_path / "set") as again:
        assert ids_of(again.get_nodes(filters=filters_of(("year", "==", 2001)))) == sorted(
            IDS[i] for i in range(ROWS) if metadata_of(i).get("year") == 2001)
    for asked, words in [({"schema": {"year": "f64"}}, "was made with"), ({"metric": "l2"}, "made with 'cosine'")]:
        with pytest.raises(farvec.InvalidArgument, match=words):
            FarvecVectorStore(tmp_path / "set", **asked)
    with pytest.raises(farvec.InvalidArgument, match="dimension: there is no collection"):
        FarvecVectorStore(tmp_path / "other")
    with pytest.raises(farvec.InvalidArgument, match="'_document' is a column of the store itself"):
        FarvecVectorStore(tmp_path / "other", dimension=3, schema={"_document": "string"})
    with farvec.Collection(tmp_path / "set") as mine:
        FarvecVectorStore(mine).close()
        assert not mine.closed


def test_what_cannot_be_kept_is_refused_and_nothing_is_in(store, monkeypatch):
    for node, words in [
        (TextNode(text="a", embedding=[1.0] * DIMENSION, metadata={"year": 2.5}), "'year' is i64"),
        (TextNode(text="a" * 70_000, embedding=[1.0] * DIMENSION), "more than 65536"),
        (TextNode(text="a"), "embedding"),
        (TextNode(text="a", embedding=[1.0]), "do not fit"),
    ]:
        with pytest.raises((ValueError, farvec.Error), match=words):
            store.add([node])
    assert len(store.client) == ROWS
    monkeypatch.setattr(_documents, "number_of", lambda id: 5)
    with pytest.raises(farvec.InvalidArgument, match="have the same hash"):
        store.add(NODES[:2])


def test_an_index_of_llamaindex_is_filled_and_asked(tmp_path):
    Settings.llm = None
    with FarvecVectorStore(tmp_path / "set", dimension=8, schema={"year": "i64"}) as store:
        documents = [Document(text=f"about {year}", metadata={"year": year}, id_=f"d{year}")
                     for year in range(2000, 2010)]
        model = MockEmbedding(embed_dim=8)
        index = VectorStoreIndex.from_documents(
            documents, storage_context=StorageContext.from_defaults(vector_store=store), embed_model=model)
        index.delete_ref_doc("d2003")
        index.storage_context.persist(tmp_path / "storage")
        again = VectorStoreIndex.from_vector_store(store, embed_model=model)
        found = again.as_retriever(similarity_top_k=20, filters=filters_of(("year", ">", 2001))).retrieve("x")
        assert sorted(one.text for one in found) == [f"about {year}" for year in (2002, *range(2004, 2010))]
        assert all(one.node.ref_doc_id == f"d{one.metadata['year']}" for one in found)


def test_without_llamaindex_the_error_says_what_to_install(tmp_path):
    (tmp_path / "llama_index.py").write_text("raise ImportError('gone')")
    done = subprocess.run([sys.executable, "-c", "import farvec.llamaindex"], text=True, check=False,
                          capture_output=True, env={"PYTHONPATH": f"{tmp_path}:{':'.join(sys.path)}"})
    assert "gone" in done.stderr and "pip install farvec[llamaindex]" in done.stderr


def test_the_snippets_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for text in snippets_of("llama-index-core"):
        exec(compile(text, "docs/use/frameworks.md", "exec"), names)
    assert capsys.readouterr().out
