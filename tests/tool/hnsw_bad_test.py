"""What the commands of HNSW graphs on pages say to what is wrong, and what stays as it was."""
import os
import resource
import shutil
import signal
import subprocess
import unittest

import numpy as np

from farvec_tool import BIN, TIMEOUT_S, farvec, write_vectors
from hnsw_tool import write_neighbours, DIMENSION, HnswTest

MIB = 1 << 20


class BadInput(HnswTest):
    def setUp(self):
        super().setUp()
        self.first = write_vectors(self.folder / "first", self.data[:200])
        self.made(data=self.first)

    def refuse(self, command, *options, words):
        return self.must_refuse(self.change(command, *options), *map(str, words))

    def test_an_id_that_exists_ends_the_insert_and_what_went_in_stays(self):
        # Ids 250 to 449 go in until 300 is met.
        self.changed("insert", "--data", self.base, "--range", "300:301")
        self.refuse("insert", "--data", self.base, "--range", "250:450", "--slots", 1,
                    words=(300,))
        self.assertEqual(self.verified()["count"], 200 + 1 + 50)

    def test_an_id_that_is_not_there(self):
        self.refuse("delete", "--range", "195:205", "--slots", 1, words=(200,))
        self.assertEqual(self.verified()["count"], 195)
        facts = self.changed("delete", "--range", "190:205", "--missing-ok")
        self.assertEqual((facts["missing"], facts["graph"]["count"]), (10, 190))
        self.refuse("delete", words=("--ids", "--range"))
        self.refuse("delete", "--range", "9:3", words=("9:3",))

    def test_rows_that_do_not_fit_the_graph(self):
        wide = write_vectors(self.folder / "wide", self.rows(5, DIMENSION + 1, np.float32))
        bytes_ = write_vectors(self.folder / "bytes", self.rows(5, DIMENSION))
        holes = self.rows(5, DIMENSION, np.float32)
        holes[3, 2] = np.nan
        self.refuse("insert", "--data", wide, "--first-id", 900, words=(wide, 14, 13))
        self.refuse("insert", "--data", bytes_, "--first-id", 900, words=(bytes_, "u8", "f32"))
        self.refuse("insert", "--data", write_vectors(self.folder / "holes", holes), "--first-id",
                    900, words=("holes.fbin", 3))
        self.refuse("insert", "--data", self.base, "--range", "0:601", words=("0:601",))
        self.refuse("insert", "--data", self.base, "--first-id", 2**32 - 10, words=("--first-id",))
        self.must_refuse(self.sweep(self.write_truth(range(200)), queries=wide), "14", "13")
        self.assertEqual(self.verified()["count"], 200)

    def test_bad_options(self):
        self.refuse("insert", "--data", self.base, "--order", "sorted", words=("sorted",))
        for word in ("always", "interval:", "interval:0", "interval:-4"):
            self.must_refuse(farvec("vacuum", "--index", self.graph, "--durability", word),
                             "--durability")
        self.refuse("vacuum", "--buffer", "1KB", words=("buffer", "use at least"))
        self.refuse("vacuum", "--buffer", "101%", words=("--buffer", "101%"))
        self.refuse("vacuum", "--search", "fast", words=("fast",))
        truth = self.write_truth(range(200))
        self.must_refuse(self.sweep(truth, "--buffer", "1KB"), "buffer", "use at least")
        few = write_neighbours(self.folder / "few.ibin", np.zeros((len(self.asked), 3), np.uint32),
                               np.zeros((len(self.asked), 3), np.float32))
        self.must_refuse(self.sweep(few), "3 neighbours", "few.ibin")
        self.must_refuse(self.sweep(truth, "--tier", "ssd"), "--tier", "HNSW")

    def test_what_is_no_hnsw_graph(self):
        self.must_pass(self.build(self.first, out="vamana"))
        (self.folder / "empty").mkdir()
        for name in ("vamana", "empty", "nowhere"):
            for command, options in (("insert", ("--data", self.base)), ("vacuum", ()),
                                     ("delete", ("--range", "0:1"))):
                self.must_refuse(farvec(command, "--index", self.folder / name, *options), name,
                                 "farvec build hnsw")

    def test_only_one_process_works_on_a_graph(self):
        many = write_vectors(self.folder / "many", self.rows(30_000, DIMENSION, np.float32))
        process = subprocess.Popen(
            [str(BIN / "farvec"), "insert", "--index", str(self.graph), "--data", str(many),
             "--range", "200:30000", "--slots", "1", "--durability", "none", "--buffer", "64MiB"],
            stderr=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL)
        try:
            self.assertIn("%", process.stderr.readline())  # it is at work, for long
            self.must_refuse(farvec("vacuum", "--index", self.graph), str(self.graph),
                             "another process")
            self.assertIsNone(process.poll())
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=TIMEOUT_S)
        self.verified()


class BadBuilds(HnswTest):
    def refuse(self, *options, words, **where):
        self.must_refuse(self.make(*options, **where), *map(str, words))
        self.assertFalse((self.graph / "pages").exists())

    def test_a_vector_that_does_not_fit_its_page(self):
        large = write_vectors(self.folder / "large", self.rows(20, 1500, np.float32))
        self.refuse("--page-bytes", 4096, data=large, words=(1500, 4096, 8192))
        self.refuse("--page-bytes", 5000, words=(5000,))
        self.made("--page-bytes", 8192, data=large)

    def test_bad_options(self):
        for options, words in ((("--order", "sorted"), ("sorted",)),
                               (("--partition-nodes", 0), ("--partition-nodes", 0)),
                               (("--partition-nodes", 257), ("--partition-nodes", 256)),
                               (("--insert-share", "130%"), ("--insert-share",)),
                               (("--insert-pages", "130%"), ("--insert-pages",)),
                               (("--m", 1), ("1",)), (("--buffer", "1KB"), ("use at least",)),
                               (("--order", "file:/nonexistent"), ("/nonexistent",))):
            with self.subTest(options=options):
                self.refuse(*options, words=words)
        self.refuse(metric="l7", words=("l7",))

    def test_what_is_there_is_replaced_only_when_asked_and_if_it_is_a_graph(self):
        self.made()
        self.must_refuse(self.make(), str(self.graph), "--overwrite")
        self.assertEqual(self.verified()["count"], 600)
        shutil.rmtree(self.graph)
        self.graph.mkdir()
        (self.graph / "thesis.txt").write_text("mine")
        self.must_refuse(self.make("--overwrite"), str(self.graph))
        self.assertEqual((self.graph / "thesis.txt").read_text(), "mine")

    def test_a_bad_replacement_keeps_the_old_graph(self):
        self.made()
        short = self.folder / "short.ibin"
        short.write_bytes(np.array([3, 1, 0, 1, 2], dtype="<u4").tobytes())
        for options in (("--m", 1), ("--partition-nodes", 0), ("--insert-share", "130%"),
                        ("--buffer", "1KB"), ("--buffer", "101%"), ("--page-bytes", 5000),
                        ("--order", "file:/nonexistent"), ("--order", f"file:{short}")):
            with self.subTest(options=options):
                self.must_refuse(self.make("--overwrite", *options))
                self.assertEqual(self.verified()["count"], 600)
        holes = self.data.copy()
        holes[7, 1] = np.inf
        self.must_refuse(self.make("--overwrite",
                                   data=write_vectors(self.folder / "holes", holes)), "holes")
        self.assertEqual(self.verified()["count"], 600)


    def test_a_build_in_memory_that_is_interrupted(self):
        # Seconds of work, of which a tenth is done at the signal.
        many = write_vectors(self.folder / "many", self.rows(60_000, DIMENSION, np.float32))
        build = subprocess.Popen(
            [BIN / "farvec", "build", "hnsw", "--data", many, "--metric", "l2", "--out", self.graph,
             "--build-threads", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("%", build.stderr.readline())
        build.send_signal(signal.SIGINT)
        output, _ = build.communicate(timeout=TIMEOUT_S)
        self.assertEqual((build.returncode, output), (130, ""))
        self.must_refuse(farvec("inspect", self.graph))


class Damage(HnswTest):
    def setUp(self):
        super().setUp()
        self.made()

    def test_a_flipped_byte_in_a_page(self):
        pages = self.graph / "pages"
        whole = pages.read_bytes()
        for at in (100, 3 * 8192 + 4000):
            with self.subTest(at=at):
                pages.write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1:])
                result = farvec("inspect", self.graph, "--verify")
                self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
                self.assertRegex(result.stdout + result.stderr, f"page {at // 8192}\\b")
        pages.write_bytes(whole)
        self.verified()

    def test_pages_that_were_cut_off(self):
        pages = self.graph / "pages"
        pages.write_bytes(pages.read_bytes()[:5 * 8192])
        self.must_refuse(farvec("inspect", self.graph, "--verify"))

    def test_a_checkpoint_that_is_damaged_or_missing(self):
        path = self.graph / "checkpoint"
        whole = path.read_bytes()
        for bad in (whole[:-1], bytes([whole[0] ^ 1]) + whole[1:], whole[:20] + b"\xff" * 4
                    + whole[24:], b""):
            path.write_bytes(bad)
            self.must_refuse(farvec("inspect", self.graph, "--verify"), "checkpoint")

    def test_a_log_that_is_damaged_cut_or_missing(self):
        """A closed graph needs nothing of it but where it ends."""
        (log,) = (self.graph / "log").iterdir()
        whole = log.read_bytes()[:2 * MIB]
        for name, bad in (("empty", b""), ("header", b"\xff" * 64 + whole[64:])):
            with self.subTest(name):
                log.write_bytes(bad)
                self.must_refuse(farvec("inspect", self.graph, "--verify"), log.name)
        log.unlink()
        self.must_refuse(farvec("inspect", self.graph, "--verify"), "log")

    def test_a_disk_that_is_full(self):
        """What went in before stays, and with room again it goes on."""
        facts = self.verified()
        size = facts["pages"] * facts["page_bytes"]
        os.truncate(self.graph / "pages", size)  # without the blocks that it has in stock
        more = write_vectors(self.folder / "more", self.rows(9000, DIMENSION, np.float32))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        result = self.change("insert", "--data", more, "--first-id", 1000, preexec_fn=limit)
        self.must_refuse(result, "inserting id")
        count = self.verified()["count"]
        self.assertGreaterEqual(count, 600)
        self.changed("insert", "--data", self.base, "--first-id", 20_000, "--range", "0:20")
        self.assertEqual(self.verified()["count"], count + 20)


if __name__ == "__main__":
    unittest.main()
