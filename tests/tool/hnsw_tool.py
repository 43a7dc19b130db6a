"""HNSW graphs on pages: what their tests share."""
import json

import numpy as np

from farvec_tool import ToolTest, farvec, write_vectors

DIMENSION, QUERIES, K = 13, 20, 10
SMALL_GRAPH = ("--m", 8, "--ef-construction", 80, "--quiet")


def nearest(rows, queries, metric="l2", k=K):
    """(places, distances) of the k nearest rows of every query, by comparing with all of them."""
    rows, queries = rows.astype(np.float64), queries.astype(np.float64)
    if metric == "cosine":
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    distances = -queries @ rows.T
    if metric == "l2":
        distances = np.square(queries[:, None, :] - rows[None, :, :]).sum(axis=2)
    if metric == "cosine":
        distances += 1
    places = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return places, np.take_along_axis(distances, places, axis=1)


def write_neighbours(path, ids, distances):
    shape = np.asarray(ids.shape, dtype="<u4")
    path.write_bytes(shape.tobytes() + ids.astype("<u4").tobytes()
                     + distances.astype("<f4").tobytes())
    return path


class HnswTest(ToolTest):
    """A graph in the test's folder, changed and searched by the tool."""

    def setUp(self):
        super().setUp()
        self.graph = self.folder / "graph"
        self.data = self.rows(600, DIMENSION, np.float32)
        self.asked = self.rows(QUERIES, DIMENSION, np.float32)
        self.base = write_vectors(self.folder / "base", self.data)
        self.queries = write_vectors(self.folder / "queries", self.asked)

    def make(self, *options, data=None, metric="l2"):
        """The finished build."""
        return farvec("build", "hnsw", "--data", data or self.base, "--metric", metric, "--out",
                      self.graph, *SMALL_GRAPH, "--json", *options)

    def made(self, *options, **where):
        return json.loads(self.must_pass(self.make(*options, **where)).stdout)

    def change(self, command, *options, **process_options):
        return farvec(command, "--index", self.graph, "--quiet", "--json", "--durability", "none",
                      *options, **process_options)

    def changed(self, command, *options):
        return json.loads(self.must_pass(self.change(command, *options)).stdout)

    def verified(self):
        """What `inspect --verify --json` says of a graph that holds together."""
        result = self.must_pass(farvec("inspect", self.graph, "--verify", "--json"))
        facts = json.loads(result.stdout)
        check = facts["check"]
        self.assertTrue(check["ok"])
        self.assertEqual(check["problems"], [])
        self.assertEqual((check["vertices"], check["marked"]), (facts["count"], facts["marked"]))
        self.assertEqual(check["id_map_entries"], facts["count"])
        self.assertEqual((check["layers"] or [0])[0], facts["count"] + facts["marked"])
        self.assertEqual(facts["bytes"], facts["pages"] * facts["page_bytes"])
        return facts

    def write_truth(self, live=None, metric="l2"):
        """Of the ids that are there, all if None: by numpy."""
        live = np.arange(len(self.data)) if live is None else np.asarray(live)
        places, distances = nearest(self.data[live], self.asked, metric)
        return write_neighbours(self.folder / "truth.ibin", live[places], distances)

    def sweep(self, truth, *options, queries=None):
        return farvec("sweep", "--index", self.graph, "--queries", queries or self.queries,
                      "--groundtruth", truth, "--k", K, "--passes", 1, "--json",
                      self.folder / "sweep.jsonl", "--overwrite", *options)

    def swept(self, truth, *options, **where):
        self.must_pass(self.sweep(truth, *options, **where))
        return [json.loads(line) for line in (self.folder / "sweep.jsonl").read_text().splitlines()]

    def recall(self, live=None, metric="l2", queries=None):
        (row,) = self.swept(self.write_truth(live, metric), "--list", 100, "--search", "pipelined",
                            "--buffer", "50%", queries=queries)
        return row["recall"]
