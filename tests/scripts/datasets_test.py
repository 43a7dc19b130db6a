"""The data sets that are made here: tiny ones, of generated pictures and words."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts" / "datasets"
FARVEC = pathlib.Path(os.environ.get("FARVEC_BIN_DIR", ROOT / "build/release/bin")) / "farvec"


def run(*arguments, **options):
    return subprocess.run([str(argument) for argument in arguments], text=True, timeout=110,
                          capture_output=True, check=False, **options)


def python_with_opencv():
    for python in ("/usr/bin/python3", ROOT / "build/datasets-venv/bin/python"):
        if pathlib.Path(python).exists() and run(python, "-c", "import cv2, numpy").returncode == 0:
            return python
    return None


def read_rows(path, element_type):
    count, dimension = np.fromfile(path, "<u4", 2)
    return np.fromfile(path, element_type, offset=8).reshape(count, dimension)


def read_truth(path):
    raw = np.fromfile(path, "<u4")
    count, k = (int(value) for value in raw[:2])
    return (raw[2:2 + count * k].reshape(count, k).astype(np.int64),
            raw[2 + count * k:].view("<f4").reshape(count, k))


def write_picture(path, seed, tile=None):
    """A grey picture (PGM) of blobs; `tile` repeats a square of it, which makes equal patches."""
    random = np.random.default_rng(seed)
    coarse = random.integers(0, 256, (20, 28)).astype(np.float64)
    fine = np.kron(coarse, np.ones((12, 12))) + random.normal(0, 6, (240, 336))
    picture = np.clip(fine, 0, 255).astype(np.uint8)
    if tile:
        picture = np.tile(picture[:tile, :tile], (4, 5))
    path.write_bytes(b"P5 %d %d 255\n" % picture.shape[::-1] + picture.tobytes())
    return path


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name)

    def check_truth(self, suffix, element_type, metric, distances):
        """farvec's neighbours against all distances."""
        if not FARVEC.exists():
            self.skipTest(f"{FARVEC} is not built")
        truth = self.out / "gt100.ibin"
        done = run(FARVEC, "dataset", "groundtruth", "--data", self.out / f"base.{suffix}",
                   "--queries", self.out / f"query.{suffix}", "--metric", metric, "--k", 20,
                   "--out", truth, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        ids, found = read_truth(truth)
        base = read_rows(self.out / f"base.{suffix}", element_type).astype(np.float64)
        queries = read_rows(self.out / f"query.{suffix}", element_type).astype(np.float64)
        for number, query in enumerate(queries):
            expected = distances(base, query)
            np.testing.assert_allclose(found[number], np.sort(expected)[:20], rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(expected[ids[number]], found[number], rtol=1e-4, atol=1e-6)


class PhotographsTest(FolderTest):
    """Sets made of photographs by `script`."""

    script = None

    def setUp(self):
        super().setUp()
        self.python = python_with_opencv()
        if self.python is None:
            self.skipTest("no Python with OpenCV: neither python3-opencv nor build/datasets-venv, "
                          "which `scripts/datasets/get.sh siftdense-1M` makes")

    def make(self, *arguments):
        return run(self.python, "-B", SCRIPTS / self.script, "--out", self.out, *arguments)

    def pictures(self):
        return [write_picture(self.out / f"{seed}.pgm", seed) for seed in (1, 2)]


# Of two small pictures, made before rows had attributes.
BASE_SUM = "f8a409d7092c1651f6099565c19a9e6b305d2c466b477487bce786e6014bd953"
QUERY_SUM = "13935d236c31c63dadb01b795fbb45b97663870339d3c3a3e783b88b54b9bea6"


class DenseSift(PhotographsTest):
    script = "sift_dense.py"

    def test_makes_distinct_rows_and_queries_of_another_picture(self):
        arguments = ["--rows", 3000, "--queries", 50, *self.pictures()]
        done = self.make(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        base = read_rows(self.out / "base.u8bin", np.uint8)
        queries = read_rows(self.out / "query.u8bin", np.uint8)
        self.assertEqual(base.shape, (3000, 128))
        self.assertEqual(queries.shape, (50, 128))
        rows = {row.tobytes() for row in base}
        self.assertEqual(len(rows), 3000)
        self.assertFalse(rows & {row.tobytes() for row in queries})
        self.assertFalse(list(self.out.glob("*part*")))
        first = (self.out / "base.u8bin").read_bytes()
        self.assertIn("complete", self.make(*arguments).stderr)
        (self.out / "made.json").unlink()
        self.assertEqual(self.make(*arguments).returncode, 0)
        self.assertEqual((self.out / "base.u8bin").read_bytes(), first)
        self.check_truth("u8bin", np.uint8, "l2",
                         lambda rows, query: ((rows - query)**2).sum(axis=1))

    def test_attributes_belong_to_their_rows(self):
        """The descriptor is computed again at the place of a row, and the contrast from its pixels."""
        done = self.make("--rows", 2000, "--queries", 40, *self.pictures())
        self.assertEqual(done.returncode, 0, done.stderr)
        facts = json.loads((self.out / "made.json").read_text())
        check = f"""
import sys
sys.path.insert(0, {str(SCRIPTS)!r})
import cv2, json, numpy as np, pathlib
import photographs, sift_dense
folder = pathlib.Path({str(self.out)!r})
pictures = {{one.digest[:12]: one for one in photographs.load_photographs(folder.glob("*.pgm"))}}
for name, lines in (("base", "base.jsonl"), ("query", "query.jsonl"), ("held", "held.jsonl")):
    rows = np.fromfile(folder / f"{{name}}.u8bin", np.uint8, offset=8).reshape(-1, 128)
    records = [json.loads(line) for line in (folder / lines).read_text().splitlines()]
    assert len(rows) == len(records) > 0, name
    for row, record in list(zip(rows, records))[:60]:
        scale = 0.5 ** (record["size"] / 2)
        grey = pictures[record["photograph"]].scaled(scale)
        found = False
        # A place is rounded to the photograph's pixels, so that its neighbours may be meant.
        for y in range(int(record["y"] * scale) - 1, int(record["y"] * scale) + 3):
            for x in range(int(record["x"] * scale) - 1, int(record["x"] * scale) + 3):
                box = grey[y - 12:y + 12, x - 12:x + 12].astype(np.float64)
                if box.shape == (24, 24) and abs(box.std() - record["contrast"]) < 0.02:
                    found |= (sift_dense.describe(grey, [(x, y)])[0] == row).all()
        assert found, (name, record)
"""
        done = run(self.python, "-B", "-c", check)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({record["photograph"] for record in self.records("query")} &
                         {record["photograph"] for record in self.records("base")}, set())
        self.assertEqual({record["photograph"] for record in self.records("held")},
                         {record["photograph"] for record in self.records("base")})
        held = {row.tobytes() for row in read_rows(self.out / "held.u8bin", np.uint8)}
        base = {row.tobytes() for row in read_rows(self.out / "base.u8bin", np.uint8)}
        self.assertEqual((len(held), held & base), (40, set()))
        self.assertEqual(facts["labels"], sum(len(row["tags"]) for row in self.records("base")))

    def records(self, name):
        return [json.loads(line) for line in (self.out / f"{name}.jsonl").read_text().splitlines()]

    def test_vectors_are_those_from_before_rows_had_attributes(self):
        arguments = ["--rows", 3000, "--queries", 50, *self.pictures()]
        self.assertEqual(self.make(*arguments).returncode, 0)
        facts = json.loads((self.out / "made.json").read_text())
        if (facts["opencv"], facts["numpy"]) != ("4.12.0", "2.2.6"):
            self.skipTest("the sums are those of the versions that get.sh names")
        self.assertEqual(facts["base_sha256"], BASE_SUM)
        self.assertEqual(facts["query_sha256"], QUERY_SUM)
        first = {path.name: path.read_bytes() for path in self.out.glob("[bhq]*.*")}
        self.assertEqual(len(first), 13)
        (self.out / "made.json").unlink()
        self.assertEqual(self.make(*arguments).returncode, 0)
        self.assertEqual({path.name: path.read_bytes() for path in self.out.glob("[bhq]*.*")}, first)

    def test_rows_without_any_that_are_left(self):
        """11,208 patches: all of them are in the base, so that none can be held out."""
        done = self.make("--rows", 11_208, "--queries", 5, *self.pictures())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(list(self.out.glob("held*")))
        self.assertEqual(len(self.records("query")), 5)

    def test_removes_equal_patches(self):
        pictures = [write_picture(self.out / f"{seed}.pgm", seed, tile=60) for seed in (3, 4)]
        done = self.make("--rows", 400, "--queries", 5, "--step", 1, *pictures)
        self.assertEqual(done.returncode, 0, done.stderr)
        base = read_rows(self.out / "base.u8bin", np.uint8)
        self.assertEqual(len({row.tobytes() for row in base}), 400)
        facts = json.loads((self.out / "made.json").read_text())
        self.assertEqual(facts["base_described"], 520)
        self.assertGreater(facts["base_duplicates"], 0)

    def test_too_few_distinct_patches_are_an_error(self):
        pictures = [write_picture(self.out / f"{seed}.pgm", seed, tile=60) for seed in (3, 4)]
        done = self.make("--rows", 8000, "--queries", 5, "--step", 1, *pictures)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "error: base: [0-9,]+ distinct descriptors, 8,000 wanted")
        self.assertFalse((self.out / "base.u8bin").exists())

    def test_says_what_is_missing(self):
        done = self.make("--rows", 10_000_000, *self.pictures())
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "error: base: the photographs have [0-9,]+ patches with "
                         "contrast and 10,000,000 are wanted")
        self.assertFalse((self.out / "base.u8bin").exists())
        done = self.make(write_picture(self.out / "1.pgm", 1), write_picture(self.out / "3.pgm", 1))
        self.assertIn("looks like", done.stderr)
        self.assertIn("error: 1 photographs: at least two are needed", done.stderr)
        (self.out / "no.jpg").write_text("no picture")
        self.assertIn("no.jpg is not a picture", self.make(self.out / "no.jpg").stderr)

    def test_refuses_a_folder_of_another_set(self):
        pictures = self.pictures()
        self.assertEqual(self.make("--rows", 100, "--queries", 5, *pictures).returncode, 0)
        done = self.make("--rows", 200, "--queries", 5, *pictures)
        self.assertEqual(done.returncode, 1)
        self.assertIn("made otherwise (rows)", done.stderr)


class Hog(PhotographsTest):
    script = "hog.py"

    def test_makes_distinct_rows_and_queries_of_another_picture(self):
        arguments = ["--rows", 1500, "--queries", 40, *self.pictures()]
        done = self.make(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        base = read_rows(self.out / "base.fbin", "<f4")
        queries = read_rows(self.out / "query.fbin", "<f4")
        self.assertEqual((base.shape, queries.shape), ((1500, 576), (40, 576)))
        rows = {row.tobytes() for row in base}
        self.assertEqual(len(rows), 1500)
        self.assertFalse(rows & {row.tobytes() for row in queries})
        blocks = np.linalg.norm(base.reshape(-1, 36).astype(np.float64), axis=1)
        np.testing.assert_allclose(blocks, 1, atol=0.01)
        self.check_truth("fbin", "<f4", "l2", lambda rows, query: ((rows - query)**2).sum(axis=1))

    def test_same_bytes_again_and_after_an_interruption(self):
        arguments = ["--rows", 600, "--queries", 10, *self.pictures()]
        self.assertEqual(self.make(*arguments).returncode, 0)
        first = [(self.out / name).read_bytes() for name in ("base.fbin", "query.fbin")]
        self.assertIn("complete", self.make(*arguments).stderr)
        for name in ("base.fbin", "query.fbin", "made.json"):
            (self.out / name).unlink()
        (self.out / "query.fbin").mkdir()  # in the way of what is written last
        self.assertEqual(self.make(*arguments).returncode, 1)
        self.assertEqual(len(list(self.out.glob("parts-*/*.fbin"))), 2)
        (self.out / "query.fbin").rmdir()
        done = self.make(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("descriptors of", done.stderr)  # they were kept
        self.assertFalse(list(self.out.glob("*part*")))
        again = [(self.out / name).read_bytes() for name in ("base.fbin", "query.fbin")]
        self.assertEqual(again, first)

    def test_stripes_have_one_direction(self):
        """A horizontal gradient lies between the last and the first of nine directions."""
        random = np.random.default_rng(5)
        for name in ("1", "2"):
            stripes = np.tile(random.integers(0, 256, 120).astype(np.uint8).repeat(3), (240, 1))
            (self.out / f"{name}.pgm").write_bytes(b"P5 360 240 255\n" + stripes.tobytes())
        done = self.make("--rows", 20, "--queries", 2, "--step", 1, self.out / "1.pgm",
                         self.out / "2.pgm")
        self.assertEqual(done.returncode, 0, done.stderr)
        directions = read_rows(self.out / "base.fbin", "<f4").reshape(-1, 9).sum(axis=0)
        self.assertGreater(directions[[0, 8]].sum(), 0.999 * directions.sum())

    def test_says_what_is_wrong(self):
        pictures = self.pictures()
        done = self.make("--rows", 10_000_000, *pictures)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "error: base: the photographs have [0-9,]+ patches with "
                         "contrast and 10,000,000 are wanted")
        self.assertFalse((self.out / "base.fbin").exists())
        self.assertEqual(self.make("--rows", 100, "--queries", 5, *pictures).returncode, 0)
        done = run(self.python, "-B", SCRIPTS / "sift_dense.py", "--out", self.out, "--rows", 100,
                   "--queries", 5, *pictures)
        self.assertEqual(done.returncode, 1)
        self.assertIn("made otherwise (descriptor", done.stderr)


class Words(FolderTest):
    def write(self, vectors):
        content = {"dimensions": 6, "words": list(vectors),
                   "vectors": {word: [*vectors[word], 1.0, number]
                               for number, word in enumerate(sorted(vectors))}}
        path = self.out / "words.json"
        path.write_text(json.dumps(content))
        return path

    def make(self, *arguments):
        return run("/usr/bin/python3", "-B", SCRIPTS / "words.py", "--out", self.out, *arguments)

    def test_holds_queries_out(self):
        random = np.random.default_rng(1)
        vectors = {f"w{number}": random.normal(size=6).round(5).tolist() for number in range(300)}
        vectors["zero"] = [0.0] * 6
        vectors["again"] = vectors["w7"]
        done = self.make(self.write(vectors), "--queries", 40)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out: 2 ", done.stderr)
        base = read_rows(self.out / "base.fbin", "<f4")
        queries = read_rows(self.out / "query.fbin", "<f4")
        self.assertEqual((base.shape, queries.shape), ((260, 6), (40, 6)))
        rows = {row.tobytes() for row in base} | {row.tobytes() for row in queries}
        self.assertEqual(rows, {np.asarray(vectors[f"w{number}"], "<f4").tobytes()
                                for number in range(300)})
        self.check_truth("fbin", "<f4", "cosine", lambda rows, query: 1 - rows @ query / (
            np.linalg.norm(rows, axis=1) * np.linalg.norm(query)))

    def test_texts_are_means_of_their_words(self):
        vectors = {word: [number, 1.0, 0.0, 0.0, 0.0, number**2]
                   for number, word in enumerate("abcdefgh")}
        texts = self.out / "texts.txt"
        texts.write_text("A b, c-d e!\na b c d\nunknown h h h h g\na b c d e\n")
        done = self.make(self.write(vectors), "--texts", texts, "--queries", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(read_rows(self.out / "base.fbin", "<f4").shape, (8, 6))
        queries = read_rows(self.out / "query.fbin", "<f4")
        np.testing.assert_allclose(queries[np.argsort(queries[:, 0])],
                                   [[2, 1, 0, 0, 0, 6], [6.8, 1, 0, 0, 0, 46.4]], rtol=1e-6)
        self.assertIn("2 usable vectors do not give 3 queries",
                      self.make(self.out / "words.json", "--texts", texts, "--queries", 3).stderr)

    def test_says_what_is_wrong(self):
        self.assertIn("0 usable vectors do not give 9 queries",
                      self.make(self.write({"zero": [0.0] * 6}), "--queries", 9).stderr)
        (self.out / "words.json").write_text('{"words": []}')
        self.assertIn("no dimensions, vectors in it", self.make(self.out / "words.json").stderr)
        self.assertFalse((self.out / "base.fbin").exists())


class Hardness(FolderTest):
    def test_finds_the_dimension_of_a_cube(self):
        """In uniform data the share of points nearer than r grows as r^dimension."""
        random = np.random.default_rng(1)
        rows, queries = random.random((20000, 4)), random.random((50, 4)) / 2 + 0.25
        distances = np.sort(((rows[None] - queries[:, None])**2).sum(axis=2), axis=1)[:, :100]
        path = self.out / "gt.ibin"
        path.write_bytes(np.asarray([50, 100], "<u4").tobytes() + bytes(4 * 5000) +
                         distances.astype("<f4").tobytes())
        done = run("/usr/bin/python3", "-B", SCRIPTS / "hardness.py", path)
        self.assertRegex(done.stdout, r"50 queries, local intrinsic dimension mean [34]\.")
        path.write_bytes(b"\x01\0\0\0\x64\0\0\0")
        self.assertIn("not 1 x 100 ids and as many distances",
                      run(sys.executable, "-B", SCRIPTS / "hardness.py", path).stderr)

    def test_tells_the_relative_contrast(self):
        random = np.random.default_rng(2)
        rows, queries = random.normal(size=(700, 16)), random.normal(size=(30, 16))
        everything = np.linalg.norm(rows[None] - queries[:, None], axis=2)
        expected = everything.mean() / everything.min(axis=1).mean()
        for name, content in (("base", rows), ("query", queries)):
            (self.out / f"{name}.fbin").write_bytes(
                np.asarray(content.shape, "<u4").tobytes() + content.astype("<f4").tobytes())
        (self.out / "gt.ibin").write_bytes(
            np.asarray([30, 20], "<u4").tobytes() + bytes(4 * 600) +
            (np.sort(everything, axis=1)[:, :20]**2).astype("<f4").tobytes())
        arguments = ["/usr/bin/python3", "-B", SCRIPTS / "hardness.py", self.out / "gt.ibin",
                     "--data", self.out / "base.fbin"]
        done = run(*arguments, "--queries", self.out / "query.fbin")
        self.assertIn(f"relative contrast {expected:.2f}", done.stdout)
        self.assertIn("do not belong together",
                      run(*arguments, "--queries", self.out / "base.fbin").stderr)
        self.assertIn("go together", run(*arguments).stderr)


class GetScript(unittest.TestCase):
    def test_names_what_it_does_not_know(self):
        environment = {**os.environ, "FARVEC": "/bin/true"}
        with tempfile.TemporaryDirectory() as folder:
            for name, message in (("siftdense-10G", "unknown size '10G'"),
                                  ("hog576-0", "unknown size '0'"),
                                  ("text768-many", "unknown size 'many'"),
                                  ("debian-text-all", "unknown size 'all'"),
                                  ("words", "unknown data set 'words'")):
                done = run(SCRIPTS / "get.sh", name, "--out", folder, env=environment)
                self.assertEqual(done.returncode, 1)
                self.assertIn(message, done.stderr)


class DebianText(FolderTest):
    """The lists are small ones, and vectors come from a model of the test's own."""

    LISTS = "".join(f"""Package: p{number:02}
Installed-Size: {number * 10}
Maintainer: Somebody <some@body>
Description: does {number} things
Description-md5: md{number}
Section: {('libs', 'doc')[number % 2]}
Tag: role::program, use::{('editing', "gam'ing")[number % 2]},
 works-with::p{number}

""" for number in range(30)) + "Package: bare\nDescription: has little\nInstalled-Size: many\n\n"
    TRANSLATIONS = "".join(f"""Package: p{number:02}
Description-md5: md{number}
Description-en: does {number} things well
 It is the first sentence of number {number}. A second one
 goes over two lines of the text here. Short one.
 .
 The paragraph that comes later says {number} more words.

""" for number in range(30))

    def make(self, *arguments):
        lists, translations = self.out / "Packages", self.out / "Translation-en"
        lists.write_text(self.LISTS)
        translations.write_text(self.TRANSLATIONS)
        (self.out / "sentence_model.py").write_text("""import numpy as np
class SentenceModel:
    def __init__(self, folder):
        assert folder == "the model"
    def embed(self, texts, told):
        told(len(texts), len(texts))
        return np.asarray([[len(text), text.count("one"), text.count("."), 1] for text in texts], np.float32)
""")
        call = (f"import sys; sys.path[:0] = [{str(self.out)!r}, {str(SCRIPTS)!r}]; import debian_text; "
                "sys.exit(debian_text.main(sys.argv[1:]))")
        return run("/usr/bin/python3", "-B", "-c", call, lists, translations, "--model", "the model",
                   "--out", self.out, *arguments)

    def lines(self, name):
        return [json.loads(line) for line in (self.out / name).read_text().splitlines()]

    def test_queries_are_sentences_that_the_base_does_not_have(self):
        done = self.make("--queries", 7)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("31 packages, 30 with some of 33 tags", done.stderr)
        base, queries = (read_rows(self.out / f"{name}.fbin", "<f4") for name in ("base", "query"))
        self.assertEqual((base.shape, queries.shape), ((31, 4), (7, 4)))
        attributes = self.lines("base.jsonl")
        names = [row["package"] for row in attributes]
        self.assertEqual(names, sorted(names))
        self.assertEqual(attributes[0], {"package": "bare", "section": "unknown", "kilobytes": None,
                                         "maintainer": None, "tags": []})
        self.assertEqual(attributes[4], {"package": "p03", "section": "doc", "kilobytes": 30,
                                         "maintainer": "Somebody <some@body>",
                                         "tags": ["role::program", "use::gam'ing", "works-with::p3"]})
        for row, query in zip(queries, self.lines("query.jsonl")):
            tags = attributes[names.index(query["package"])]["tags"]
            self.assertEqual(row[0], len(query["sentence"]))
            self.assertGreaterEqual(len(query["sentence"].split()), 6)
            self.assertTrue(any("'" + tag.replace("'", "''") + "'" in query["filter"] for tag in tags))
            # The description has the synopsis and the three sentences that are left.
            self.assertEqual(base[names.index(query["package"])][2], 4)
        self.assertEqual(base[names.index("bare")].tolist(), [len("has little."), 0, 1, 1])

    def test_a_sample_of_packages(self):
        self.assertEqual(self.make("--packages", 12).returncode, 0)
        self.assertEqual(len(self.lines("query.jsonl")), 6)
        self.assertEqual(read_rows(self.out / "base.fbin", "<f4").shape, (12, 4))
        names = {row["package"] for row in self.lines("base.jsonl")}
        self.assertTrue(names.issuperset(row["package"] for row in self.lines("query.jsonl")))

    def test_says_what_is_missing(self):
        self.assertIn("30 packages have 4 sentences and 2 tags: 31 queries",
                      self.make("--queries", 31).stderr)
        self.assertIn("there are 31 packages, and not 40", self.make("--packages", 40).stderr)
        self.LISTS = ""
        self.assertIn("no packages in it", self.make().stderr)


if __name__ == "__main__":
    unittest.main()
