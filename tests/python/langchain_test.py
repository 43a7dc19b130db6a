"""The store of LangChain: the suite that LangChain has for vector stores, and cases of our own.

Where langchain-tests is not installed there is nothing to try: run_with_frameworks.sh installs it.
"""

import asyncio
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("langchain_tests", reason="langchain-tests is not installed")

from langchain_core.documents import Document  # noqa: E402
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings  # noqa: E402
from langchain_core.indexing import InMemoryRecordManager, index  # noqa: E402
from langchain_tests.integration_tests import VectorStoreIntegrationTests  # noqa: E402

import farvec  # noqa: E402
from conftest import distances, open_soon  # noqa: E402
from farvec import _conditions, _documents  # noqa: E402
from farvec.langchain import FarvecVectorStore  # noqa: E402
from frameworks import ODD_TEXTS, snippets_of  # noqa: E402

SCHEMA = {"year": "i64", "lang": "string", "score": "f64", "open": "bool", "at": "timestamp",
          "tags": "set"}


@pytest.mark.asyncio
@pytest.mark.filterwarnings("ignore:.*it is not an async function")
class TestSuite(VectorStoreIntegrationTests):
    """All of it, sync and async."""

    @pytest.fixture()
    def vectorstore(self, tmp_path):
        with FarvecVectorStore(tmp_path / "set", self.get_embeddings()) as store:
            yield store


class Directions(Embeddings):
    """A text of two numbers is that vector."""

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return [float(word) for word in text.split()] if text[0].isdigit() else [1.0, 1.0]


EMBEDDING = DeterministicFakeEmbedding(size=24)
METADATA = [{"year": 2000 + i % 5, "lang": ("en", "de", "it's")[i % 3], "score": i / 4,
             "open": i % 2 == 0, "at": f"2024-01-{i % 28 + 1:02}", "tags": [f"t{i % 4}", "all"],
             "nested": {"deep": [i, None, "ü"]}} for i in range(40)] + [{}, {"lang": "", "tags": []}]
TEXTS = [f"text {i}" for i in range(len(METADATA))]
IDS = [f"id-{i}" for i in range(len(METADATA))]


@pytest.fixture()
def store(tmp_path):
    with FarvecVectorStore(tmp_path / "set", EMBEDDING, schema=SCHEMA, metric="l2") as opened:
        opened.add_texts(TEXTS, METADATA, ids=IDS)
        yield opened


def nearest(query, meets=lambda metadata: True):
    """Ids and distances of the documents that meet it, by numpy."""
    rows = np.array(EMBEDDING.embed_documents(TEXTS), np.float32)
    near = distances("l2", np.array([EMBEDDING.embed_query(query)], np.float32), rows)[0]
    order = [i for i in np.argsort(near, kind="stable") if meets(METADATA[i])]
    return [(IDS[i], near[i]) for i in order]


CONDITIONS = [
    (None, lambda m: True),
    ("year >= 2003 and lang in ('en', 'it''s')",
     lambda m: m.get("year", 0) >= 2003 and m["lang"] in ("en", "it's")),
    ({"year": 2001}, lambda m: m.get("year") == 2001),
    ({"year": [2001, 2002], "open": True}, lambda m: m.get("year") in (2001, 2002) and m["open"]),
    ({"lang": "it's", "score": 1.25}, lambda m: m.get("lang") == "it's" and m["score"] == 1.25),
    ({"score": 2}, lambda m: m.get("score") == 2),
    ({"tags": "t3"}, lambda m: "t3" in m.get("tags", ())),
    ({"tags": ["t3", "all"]}, lambda m: {"t3", "all"} <= set(m.get("tags", ()))),
    ({"at": "2024-01-05"}, lambda m: m.get("at") == "2024-01-05"),
    ({"year": None}, lambda m: m.get("year") is None),
    ({"lang": ""}, lambda m: m.get("lang") == ""),
    ("not tags contains any ('t1')", lambda m: "tags" in m and "t1" not in m["tags"]),
    ({}, lambda m: True),
]


@pytest.mark.parametrize("condition, meets", CONDITIONS)
def test_the_nearest_that_meet_a_filter_are_found(store, condition, meets):
    expected = nearest("text 7", meets)
    found = store.similarity_search_with_score("text 7", k=100, filter=condition)
    assert [document.id for document, _ in found] == [id for id, _ in expected]
    assert np.allclose([near for _, near in found], [near for _, near in expected], rtol=1e-4)
    for document, _ in found:
        place = IDS.index(document.id)
        assert (document.page_content, document.metadata) == (TEXTS[place], METADATA[place])
    first = [id for id, _ in expected[:3]]
    for documents in (store.similarity_search("text 7", k=3, filter=condition),
                      store.similarity_search_by_vector(EMBEDDING.embed_query("text 7"), 3, condition),
                      store.as_retriever(search_kwargs={"k": 3, "filter": condition}).invoke("text 7"),
                      asyncio.run(store.asimilarity_search("text 7", k=3, filter=condition))):
        assert [document.id for document in documents] == first


@pytest.mark.parametrize("condition, words", [
    ({"colour": 1}, "no column 'colour': the schema is year: i64, lang: string"),
    ({"_id": "a"}, "no column '_id'"),
    ({"year": "2001"}, "'year' is i64, and is not compared with str '2001'"),
    ({"year": True}, "not compared with bool"),
    ({"open": 2}, "'open' is bool"),
    ({"lang": 3}, "'lang' is string"),
    ({"score": float("nan")}, "not compared with float nan"),
    ({"lang": "a\0b"}, "zero byte"),
    ({"lang": "\ud800"}, "no text of UTF-8"),
    (7, "neither a condition as text nor a dict"),
    ("colour = 1", "no column 'colour'"),
    ("year =", "column 7"),
])
def test_filters_that_cannot_be_say_why(store, condition, words):
    with pytest.raises(farvec.InvalidArgument, match=words):
        store.similarity_search("text 7", filter=condition)


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_texts_are_found_and_come_back(tmp_path, text):
    with FarvecVectorStore(tmp_path / "set", EMBEDDING, schema={"lang": "string"}) as store:
        store.add_texts(["x", text], [{"lang": "x"}, {"lang": text, text: text}], ids=["x!", text + "!"])
        found = store.similarity_search("x", filter={"lang": text})
        assert found == [Document(text, id=text + "!", metadata={"lang": text, text: text})]
        assert store.get_by_ids([text + "!"]) == found
        assert store.similarity_search("x", filter=f"lang != {_conditions.quoted(text)}")[0].id == "x!"


def test_numbers_are_written_so_that_farvec_reads_the_same(tmp_path):
    values = [0.1, -1e-300, 1e308, 5e-324, float("inf"), float("-inf"), 3.0, 2**53 + 2]
    with FarvecVectorStore(tmp_path / "set", EMBEDDING, schema={"v": "f64", "n": "i64"}) as store:
        ids = store.add_texts(["x"] * len(values), [{"v": value} for value in values])
        for id, value in zip(ids, values):
            assert [one.id for one in store.similarity_search("x", filter={"v": value})] == [id]
        assert store.similarity_search("x", filter={"v": np.float64(0.1)})[0].id == ids[0]
        ends = store.add_texts(["x", "x"], [{"n": -2**63}, {"n": 2**63 - 1}])
        for id, value in zip(ends, (-2**63, 2**63 - 1)):
            assert [one.id for one in store.similarity_search("x", filter={"n": value})] == [id]


def test_what_is_there_is_opened_again_and_compared_with_what_is_asked(tmp_path, store):
    store.close()
    with FarvecVectorStore(tmp_path / "set", EMBEDDING) as again:
        assert again.similarity_search("text 7", k=1, filter={"year": 2002})[0].id == "id-7"
    with FarvecVectorStore(tmp_path / "set", EMBEDDING, schema=SCHEMA, metric="l2") as again:
        assert len(again.collection) == len(TEXTS)
    for asked, words in [({"schema": {"year": "f64"}}, "was made with"), ({"schema": {}}, "was made with"),
                         ({"metric": "ip"}, "made with 'l2', and not with 'ip'")]:
        with pytest.raises(farvec.InvalidArgument, match=words):
            FarvecVectorStore(tmp_path / "set", EMBEDDING, **asked)
    with farvec.Collection(tmp_path / "set", durability="none") as mine:  # refused ones left it closed
        with FarvecVectorStore(mine, EMBEDDING) as lent:
            lent.delete(["id-7"])
        assert len(mine) == len(TEXTS) - 1


def test_a_collection_that_a_compute_node_serves(serve, tmp_path):
    FarvecVectorStore(tmp_path / "set", EMBEDDING, schema={"year": "i64"}).close()
    address = serve("--collection", str(tmp_path / "set"))
    with open_soon(address, lambda node, retries: FarvecVectorStore(node, EMBEDDING)) as store:
        store.add_texts(TEXTS, [{"year": 2000 + i} for i in range(len(TEXTS))])
        found = store.similarity_search("x", k=len(TEXTS), filter="year >= 2003")
        assert {d.page_content for d in found} == set(TEXTS[3:])
        store.delete()
        assert len(store.collection) == 0


def test_collections_of_something_else_are_refused(tmp_path):
    farvec.Collection.create(tmp_path / "bare", 24)
    with pytest.raises(farvec.InvalidArgument, match="no column '_id'"):
        FarvecVectorStore(tmp_path / "bare", EMBEDDING)
    with pytest.raises(farvec.InvalidArgument, match="'_text' is a column of the store itself"):
        FarvecVectorStore(tmp_path / "set", EMBEDDING, schema={"_text": "string"})
    with pytest.raises(farvec.InvalidArgument, match="metadatas: 1 for 2 texts"):
        FarvecVectorStore.from_texts(["a", "b"], EMBEDDING, [{}], collection=tmp_path / "texts")
    farvec.Collection(tmp_path / "texts").close()  # it was left closed
    with pytest.raises(farvec.InvalidArgument, match="collection is missing"):
        FarvecVectorStore.from_texts(["a"], EMBEDDING)
    with FarvecVectorStore(tmp_path / "set", EMBEDDING, dimension=24, options={"degree": 16}) as store:
        assert store.collection.describe()["degree"] == 16


def test_documents_come_and_go(store):
    assert store.delete([]) and store.delete(["nothing"]) and len(store.collection) == len(TEXTS)
    store.delete(["id-1", "id-1", "id-2", "nothing"])
    assert [one.id for one in store.get_by_ids(["id-2", "id-3", "id-3", "id-1", "id-0"])] == ["id-3", "id-0"]
    assert store.add_texts(["new", "newer"], [{"a": 1}, {"a": 2}], ids=["id-3", "id-3"]) == ["id-3"] * 2
    assert store.get_by_ids(["id-3"]) == [Document("newer", metadata={"a": 2}, id="id-3")]
    assert store.similarity_search("newer", k=1, filter="year is null")[0].id == "id-3"
    assert store.add_texts([]) == []
    named = store.add_documents([Document("a"), Document("b", id="mine")])
    assert named[1] == "mine" and len(named[0]) == 36
    store.delete()
    assert len(store.collection) == 0 and store.similarity_search("a") == []


def test_what_cannot_be_kept_is_refused_and_nothing_is_in(store):
    for texts, metadatas, ids, words in [
        (["a", "b"], [{}], None, "metadatas: 1 for 2 texts"),
        (["a", "b"], None, ["1"], "ids: 1 for 2 texts"),
        (["a"], [{"when": {1}}], ["1"], "metadata of '1': the value of 'when'"),
        (["a", "b"], [{}, {"year": 2.5}], ["1", "2"], "'year' is i64, and the value is 2.5"),
        (["a" * 70_000], None, ["1"], "more than 65536"),
        (["a"], None, [7], "ids: int 7 is no text"),
    ]:
        with pytest.raises(farvec.InvalidArgument, match=words):
            store.add_texts(texts, metadatas, ids=ids)
    assert len(store.collection) == len(TEXTS)


def test_two_ids_with_the_same_hash_are_told_apart(store, monkeypatch):
    monkeypatch.setattr(_documents, "number_of", lambda id: 5 if id in ("a", "b") else 6)
    with pytest.raises(farvec.InvalidArgument, match="'b' and 'a' have the same hash"):
        store.add_texts(["x", "y"], ids=["a", "b"])
    store.add_texts(["x"], ids=["a"])
    with pytest.raises(farvec.InvalidArgument, match="'b' and 'a' have the same hash"):
        store.add_texts(["y"], ids=["b"])
    store.delete(["b"])
    assert store.get_by_ids(["b"]) == [] and store.get_by_ids(["a"])[0].page_content == "x"


def test_a_hash_of_an_id_is_the_same_on_every_machine():
    assert _documents.number_of("Ünïcode") == 2928034821719740069
    assert len({_documents.number_of(str(i)) for i in range(10_000)}) == 10_000


@pytest.mark.parametrize("metric", ["l2", "ip", "cosine"])
def test_relevance_is_the_cosine_of_vectors_of_length_one(tmp_path, metric):
    with FarvecVectorStore.from_texts(["1 0", "0.6 0.8", "0 1"], Directions(), metric=metric,
                                      collection=tmp_path / "set") as store:
        found = store.similarity_search_with_relevance_scores("1 0", k=3)
        assert [one.page_content for one, _ in found] == ["1 0", "0.6 0.8", "0 1"]
        assert np.allclose([score for _, score in found], [1, 0.6, 0], atol=1e-6)
        near = store.as_retriever(search_type="similarity_score_threshold",
                                  search_kwargs={"score_threshold": 0.5}).invoke("1 0")
        assert [one.page_content for one in near] == ["1 0", "0.6 0.8"]
        farthest = FarvecVectorStore(store.collection, Directions(), relevance=lambda distance: 0.25)
        assert farthest.similarity_search_with_relevance_scores("1 0", k=1)[0][1] == 0.25


def test_marginal_relevance_takes_what_differs(tmp_path):
    texts = ["1 0", "0.999 0.01", "0.998 0.02", "0.7 0.7"]
    with FarvecVectorStore.from_texts(texts, Directions(), [{"n": i} for i in range(4)],
                                      collection=tmp_path / "set", schema={"n": "i64"}) as store:
        chosen = store.max_marginal_relevance_search("1 0", k=2, lambda_mult=0.2)
        assert [one.page_content for one in chosen] == ["1 0", "0.7 0.7"]
        like = store.max_marginal_relevance_search("1 0", k=2, lambda_mult=1)
        assert [one.page_content for one in like] == texts[:2]
        some = store.as_retriever(search_type="mmr", search_kwargs={
            "k": 2, "lambda_mult": 0.2, "filter": {"n": [1, 2]}}).invoke("1 0")
        assert {one.page_content for one in some} == set(texts[1:3])
        assert store.max_marginal_relevance_search("1 0", filter="false") == []


def test_indexing_of_langchain_keeps_a_store_like_its_source(tmp_path):
    manager = InMemoryRecordManager("farvec")
    manager.create_schema()
    with FarvecVectorStore(tmp_path / "set", EMBEDDING) as store:
        def indexed(*texts):
            return index([Document(text, metadata={"source": "s"}) for text in texts], manager, store,
                         cleanup="full", source_id_key="source", key_encoder="sha256")

        assert indexed("a", "b")["num_added"] == 2
        done = indexed("b", "c")
        assert (done["num_added"], done["num_deleted"], done["num_skipped"]) == (1, 1, 1)
        assert sorted(one.page_content for one in store.similarity_search("a")) == ["b", "c"]


def test_more_rows_than_a_search_returns_are_all_found(tmp_path):
    with FarvecVectorStore(tmp_path / "set", Directions(), schema={"n": "i64"},
                           options={"memtable_rows": 2000}) as store:
        store.add_texts([f"{i} 1" for i in range(5000)], [{"n": i} for i in range(5000)])
        store.collection.flush()
        assert len(set(store._documents.where("n >= 10"))) == 4990
        store.delete()
        assert len(store.collection) == 0


def test_arguments_of_a_search_reach_farvec(store):
    assert store.similarity_search("text 7", k=1, list=300, deadline=5.0)[0].id == "id-7"
    with pytest.raises(farvec.InvalidArgument, match="list"):
        store.similarity_search("text 7", k=1, list=0)


def test_without_langchain_the_error_says_what_to_install(tmp_path):
    (tmp_path / "langchain_core.py").write_text("raise ImportError('gone')")
    done = subprocess.run([sys.executable, "-c", "import farvec.langchain"], text=True, check=False,
                          capture_output=True, env={"PYTHONPATH": f"{tmp_path}:{':'.join(sys.path)}"})
    assert "gone" in done.stderr and "pip install farvec[langchain]" in done.stderr


def test_the_snippets_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for text in snippets_of("langchain-core"):
        exec(compile(text, "docs/use/frameworks.md", "exec"), names)
    assert capsys.readouterr().out
