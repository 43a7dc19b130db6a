"""bench/peers/bits.py without any library and without farvec: what it computes, and what it says."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import types
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
PEERS = ROOT / "bench" / "peers"
sys.path.insert(0, str(PEERS))

import bit_adapters  # noqa: E402
import bits  # noqa: E402
import bits_ours  # noqa: E402
import bits_tables  # noqa: E402
import pgvector_bits  # noqa: E402
from contenders import Point  # noqa: E402
from worker import PeerError  # noqa: E402


def row(key, rates, dram=100, where=None, recall=0.95):
    return {"key": key, "label": key, "parameters": {"list": 20}, "recall": recall,
            "reached": bits_tables.reaches(recall, 0.95), "rates": rates,
            "processor_us": [4.0] * len(rates), "p99_us": 7.0, "p99s_us": [5.0, 7.0, 9.0],
            "build_seconds": 2.0, "index_bytes": 90, "dram_bytes": dram, "second_bytes": 1000,
            "second_where": where}


class Bits(unittest.TestCase):
    def test_by_sign_or_by_mean(self):
        rows = np.asarray([[1, -2, 0, 3], [3, 2, 5, -1]], np.float32)
        self.assertEqual(bit_adapters.way_of(rows), "sign")
        self.assertEqual(bit_adapters.packed(rows, bit_adapters.thresholds_of(rows, "sign")).tolist(),
                         [[0b10010000], [0b11100000]])
        positive = np.abs(rows)
        self.assertEqual(bit_adapters.way_of(positive), "mean")
        self.assertEqual(bit_adapters.thresholds_of(positive, "mean").tolist(), [2, 2, 2.5, 2])
        # A bit is set above its threshold, and not at it.
        self.assertEqual(bit_adapters.packed(positive, bit_adapters.thresholds_of(positive, "mean")).tolist(),
                         [[0b00010000], [0b10100000]])

    def test_a_row_is_filled_to_whole_bytes(self):
        rows = np.ones((2, 13), np.float32)
        self.assertEqual(bit_adapters.packed(rows, np.zeros(13)).tolist(), [[255, 0b11111000]] * 2)

    def test_ranks_again_as_numpy_does(self):
        try:
            import faiss  # noqa: F401
        except ImportError:
            self.skipTest("no faiss")
        random = np.random.default_rng(4)
        rows, queries = random.normal(size=(300, 9)).astype("<f4"), random.normal(size=(7, 9)).astype("<f4")
        candidates = np.stack([random.choice(300, 40, replace=False) for _ in queries])
        candidates[2, 5:] = -1
        for metric in ("l2", "cosine"):
            found = bit_adapters.rank_again(rows, queries, candidates, 5, metric)
            for number, query in enumerate(queries):
                ids = candidates[number][candidates[number] >= 0]
                distances = ((rows[ids] - query)**2).sum(axis=1) if metric == "l2" else -(rows[ids] @ query)
                self.assertEqual(found[number].tolist(), ids[distances.argsort()[:5]].tolist())
        few = bit_adapters.rank_again(rows, queries, candidates[:, :3], 5, "l2")
        self.assertEqual(few.shape, (7, 3))


class Pgvector(unittest.TestCase):
    def test_versions(self):
        self.assertEqual(pgvector_bits.check_version("0.7.0"), "0.7.0")
        self.assertEqual(pgvector_bits.check_version("0.10.1"), "0.10.1")
        self.assertEqual(pgvector_bits.check_version("1.0"), "1.0")
        with self.assertRaisesRegex(PeerError, "pgvector 0.6.2 has neither bits nor half floats"):
            pgvector_bits.check_version("0.6.2")
        with self.assertRaisesRegex(PeerError, "no extension `vector`"):
            pgvector_bits.check_version("")

    def test_rows_are_as_copy_reads_them(self):
        content = pgvector_bits.copy_bytes(7, np.asarray([[1.5, -2, 1]], np.float32),
                                           np.asarray([[0b10100000]], np.uint8))
        self.assertEqual(content[:19], b"PGCOPY\n\xff\r\n\0" + bytes(8))
        self.assertEqual(content[-2:], b"\xff\xff")
        self.assertEqual(struct.unpack(">hiiihhfffiiB", content[19:-2]),
                         (3, 4, 7, 16, 3, 0, 1.5, -2, 1, 5, 3, 0b10100000))

    def test_statements(self):
        def asked(column):
            return f"q.{column}"
        hamming = pgvector_bits.Statements("bit-hamming", "cosine", 768)
        self.assertEqual(hamming.nearest(asked, 10, 40),
                         "SELECT id FROM (SELECT id, v FROM items ORDER BY b <~> q.b LIMIT 40) c "
                         "ORDER BY v <#> q.v LIMIT 10")
        self.assertIn("(b bit_hamming_ops) WITH (m = 16, ef_construction = 64)", hamming.create(64))
        half = pgvector_bits.Statements("halfvec", "l2", 100)
        self.assertEqual(half.nearest(asked, 10, 40), "SELECT id FROM items ORDER BY (v::halfvec(100)) <-> "
                         "q.v::halfvec(100) LIMIT 10")
        self.assertIn("((v::halfvec(100)) halfvec_l2_ops)", half.create(64))
        self.assertIn("(v vector_ip_ops)", pgvector_bits.Statements("vector", "cosine", 3).create(64))


class Verdicts(unittest.TestCase):
    def test_bytes_in_dram_are_those_of_the_smallest_on_both_sides(self):
        rows = [row("farvec b1 hamming, copy on disk", [1], 320, "on disk"), row("hnswlib", [1], 3300),
                row("farvec b1 hamming, packed, copy on disk", [1], 300, "on disk"),
                row("usearch", [1], 3200),
                row("farvec b1 hamming", [1], 10, bits_ours.IN_DRAM)]
        said = bits_tables.dram_verdict(rows)
        self.assertIn("packed, copy on disk has 300, the smallest HNSW of f32 (usearch) 3,200: 0.094 of "
                      "them; at most 0.1 is wanted: met", said)
        rows[2]["reached"] = False
        self.assertTrue(bits_tables.dram_verdict(rows[:4]).endswith("0.1 is wanted: met"))
        rows[0]["dram_bytes"] = 321
        self.assertIn("NOT met", bits_tables.dram_verdict(rows))
        self.assertIn("no figure, an HNSW of f32 did not reach the recall",
                      bits_tables.dram_verdict(rows[:1]))
        self.assertIn("no figure", bits_tables.dram_verdict([]))

    def test_builds_are_divided_in_turn(self):
        said = bits_tables.build_verdict({"f32": [[10, 20, 40], [8] * 3], "b1 hamming": [[3, 3, 6], [1] * 3]},
                                  "b1 hamming")
        self.assertIn("0.150 (0.150 to 0.300), by the processors' time 0.125 (0.125 to 0.125)", said)
        self.assertTrue(said.endswith("at most 0.2 is wanted: met"))
        self.assertIn("NOT met", bits_tables.build_verdict({"f32": [[10], [1]], "b1": [[3], [1]]}, "b1"))
        self.assertIn("b1 or f32 was not built", bits_tables.build_verdict({"f32": [[10], [1]]}, "b1"))

    def test_rates_are_divided_pass_by_pass(self):
        rows = [row("farvec b1 hamming", [20, 50, 30], where=bits_ours.IN_DRAM),
                row("farvec b1 jaccard", [10, 10, 10], where=bits_ours.IN_DRAM),
                row("usearch-b1", [10, 20, 20]), row("usearch-b1-32", [99, 99, 99], recall=0.8)]
        said = bits_tables.rate_verdict(rows, bits_ours.IN_DRAM)
        self.assertIn("(usearch-b1), pass by pass: 2.00 (1.50 to 2.50), by the processor's time "
                      "1.00 (1.00 to 1.00)", said)
        self.assertTrue(said.endswith("at least 2 is wanted: met"))
        self.assertIn("farvec's bits did not reach", bits_tables.rate_verdict(rows, "on disk"))
        self.assertIn("usearch's b1 did not reach the recall",
                      bits_tables.rate_verdict(rows[:2], bits_ours.IN_DRAM))

    def test_a_recall_that_is_not_reached_is_shown(self):
        self.assertEqual(bits_tables.cells(row("a", [5], recall=0.713))[2], "0.7130, not reached")
        self.assertEqual(bits_tables.cells(row("a", [4, 5, 9]))[3], "5 (4 to 9)")
        self.assertEqual(len(bits_tables.cells(row("a", [5]))), len(bits_tables.HEAD))


class Fake:
    """A contender that reaches half of what is asked."""

    label, build_seconds, index_bytes, dram_bytes, second_bytes, where = "fake", 1.0, 10, 11, 0, None

    def __init__(self, key, fails=False):
        self.key, self.fails = key, fails

    def choose(self, target):
        return {"list": 20} if target <= 0.5 else None

    def most(self):
        return {"list": 1000}

    def measure(self, parameters):
        if self.fails:
            raise PeerError("one line\nlast line")
        return Point(0.5, 100.0, parameters, 3.0)


class Swept(bits_ours.Ours):
    """A graph with known recalls: a list of `enough` reaches 0.95, and four searches in flight are best."""

    def __init__(self, enough):
        self.enough, self.shortest, self.chosen, self.cells = enough, None, None, 0

    def sweep(self, half, lists, widths, slots, pass_ms):
        self.cells += len(lists) * len(widths) * len(slots)
        return [{"list": length, "width": width, "slots": number, "qps": 100 - abs(number - 4) - width,
                 "recall": 0.95 * min(1, length / self.enough)}
                for length in lists for width in widths for number in slots]


class Lists(unittest.TestCase):
    def test_the_shortest_of_the_ladder_in_few_cells(self):
        for enough in (1, 10, 11, 57, 80, 81, 700, 1000):
            graph = Swept(enough)
            steps = sorted({*bits_ours.ladder(), *bits_ours.COARSE})
            self.assertEqual(graph.choose(0.95), {
                "list": next(length for length in steps if length >= enough), "width": 1, "slots": 4})
            self.assertLess(graph.cells, 50)
            cells = graph.cells
            self.assertEqual(graph.choose(0.95), graph.chosen)
            self.assertEqual(graph.cells, cells)

    def test_no_list(self):
        graph = Swept(1001)
        self.assertIsNone(graph.choose(0.95))
        self.assertIsNone(graph.choose(0.95))
        self.assertEqual(graph.cells, len(bits_ours.COARSE))


class Session(unittest.TestCase):
    def test_one_that_does_not_reach_the_recall_is_measured_with_the_most(self):
        session = bits.Session({})
        session.add("a", lambda: Fake("a"))
        session.choose(0.95)
        session.passes(2)
        found, = session.rows(0.95)
        self.assertEqual((found["parameters"], found["reached"], found["rates"]),
                         ({"list": 1000}, False, [100, 100]))

    def test_order(self):
        session = bits.Session({})
        session.contenders = [Fake(key) for key in ("pgvector-bit", "b", "farvec b1", "a", "farvec f32")]
        session.arrange(["farvec", "a", "b"])
        self.assertEqual([contender.key for contender in session.contenders],
                         ["farvec b1", "farvec f32", "a", "b", "pgvector-bit"])

    def test_one_that_fails_leaves_and_the_rest_goes_on(self):
        def none():
            raise PeerError("pip said no")
        session = bits.Session({})
        for key, make in (("a", lambda: Fake("a")), ("b", lambda: Fake("b", fails=True)), ("c", none)):
            session.add(key, make)
        session.choose(0.5)
        session.passes(2)
        self.assertEqual([found["key"] for found in session.rows(0.5)], ["a"])
        self.assertEqual(session.failures, {"b": "last line", "c": "pip said no"})
        facts = {"name": "n", "k": 10, "target": 0.5, "command": "c", "processor": "p", "processors": 2,
                 "load": 0.9, "commit": "f", "rows": 3, "dimension": 4, "metric": "l2", "way": "sign",
                 "queries": 6, "passes": 2, "build_list": 100, "verdicts": ["rate: met"]}
        page = bits_tables.markdown(facts, session.rows(0.5), session.failures)
        self.assertIn("- b has no row: last line.", page)
        self.assertIn("- rate: met.", page)
        self.assertNotIn("BUSY", page)
        self.assertIn("BUSY", bits_tables.markdown({**facts, "load": 5}, [], {}))


class Parts(unittest.TestCase):
    def test_lists_go_to_the_most(self):
        lists = bits_ours.ladder()
        self.assertEqual((lists[0], lists[-1]), (10, bits_ours.MOST_LIST))
        self.assertTrue(all(a < b for a, b in zip(lists, lists[1:])))

    def test_sizes_of_a_folder(self):
        with tempfile.TemporaryDirectory() as name:
            for file, size in (("records", 7), ("manifest.json", 2), ("second.bin", 30)):
                (pathlib.Path(name) / file).write_bytes(bytes(size))
            self.assertEqual(bits_ours.folder_bytes(name), (9, 30))

    def test_refuses_what_it_does_not_know(self):
        for words, message in ((("--peers", "none"), "--peers has no none; there are hnswlib"),
                               (("--ours", "f64"), "--ours has no f64"),
                               (("--pgvector", "sparsevec"), "--pgvector has no sparsevec"),
                               (("--passes", "0"), "--passes is at least 1"),
                               (("--queries", "1"), "--queries is at least 2")):
            done = subprocess.run(["/usr/bin/python3", "-B", PEERS / "bits.py", "--data", "d", "--metric",
                                   "l2", *words], capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def test_the_file_of_a_folder(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            with self.assertRaisesRegex(SystemExit, "has no base.fbin"):
                bits.file_of(folder, "base")
            for file in ("base.b1bin", "query.fbin", "base.partial.fbin", "base.u8bin"):
                (folder / file).touch()
                if file == "query.fbin":
                    self.assertRaises(SystemExit, bits.file_of, folder, "base")
                elif file == "base.partial.fbin":  # what is there of a set that is still being made
                    self.assertEqual(bits.file_of(folder, "base").name, "base.partial.fbin")
            self.assertEqual(bits.file_of(folder, "base").name, "base.u8bin")

    def test_more_rows_than_there_are(self):
        with tempfile.TemporaryDirectory() as name:
            for part in ("base", "query"):
                bits.write_floats(pathlib.Path(name) / f"{part}.fbin", np.ones((5, 2), "<f4"))
            options = types.SimpleNamespace(data=name, rows=6, queries=2)
            with self.assertRaisesRegex(SystemExit, "has 5 rows, and not 6"):
                bits.prepare(options)


@unittest.skipUnless(os.environ.get("FARVEC_BIN_DIR"), "FARVEC_BIN_DIR has no farvec")
class Whole(unittest.TestCase):
    """farvec's own rows, without a library: what its tool is asked, and what it answers."""

    def test_measures_and_says_what_bits_save(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.addCleanup(shutil.rmtree, bits.WORK / f"{folder.name}-300", ignore_errors=True)
            random = np.random.default_rng(5)
            rows = random.normal(size=(440, 64)).astype("<f4")
            bits.write_floats(folder / "base.fbin", rows[:400])
            bits.write_floats(folder / "query.fbin", rows[400:])
            farvec = pathlib.Path(os.environ["FARVEC_BIN_DIR"]) / "farvec"
            done = subprocess.run(
                [sys.executable, "-B", PEERS / "bits.py", "--farvec", farvec, "--data", folder, "--metric",
                 "cosine", "--rows", "300", "--recall", "0.5", "--passes", "1", "--builds", "1", "--ours",
                 "f32", "b1 hamming", "--peers", "--pgvector", "--out", folder / "out"],
                env={**os.environ, "FARVEC_PEERS": "{}"}, capture_output=True, text=True, check=False,
                timeout=110)
            self.assertEqual(done.returncode, 0, done.stderr)
            facts = json.loads((folder / "out.json").read_text())
            self.assertEqual((facts["rows"], facts["dimension"], facts["queries"], facts["way"]),
                             (300, 64, 40, "sign"))
            self.assertEqual(facts["failures"], {})
            found = {row["key"]: row for row in facts["table"]}
            for row in found.values():
                self.assertTrue(row["reached"])
            names = "farvec f32", "farvec b1 hamming", *(
                f"farvec b1 hamming, copy {where}" for where in bits_ours.ELSEWHERE)
            self.assertEqual(tuple(found), names)
            whole, ours, *apart = (found[name] for name in names)
            self.assertLess(ours["dram_bytes"], whole["dram_bytes"] - 300 * 64 * 2)
            self.assertGreater(ours["second_bytes"], 300 * 64 * 4)
            self.assertEqual(ours["second_where"], bits_ours.IN_DRAM)
            for other, where in zip(apart, bits_ours.ELSEWHERE):
                self.assertEqual((other["dram_bytes"], other["recall"], other["second_where"]),
                                 (ours["dram_bytes"], ours["recall"], where))
            self.assertIn("| farvec b1 hamming, copy on disk | list=", (folder / "out.md").read_text())


if __name__ == "__main__":
    unittest.main()
