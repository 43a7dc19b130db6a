"""The tags of photographs and the queries that ask for them, against slow oracles."""
import json
import pathlib
import sys
import tempfile
import types
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts" / "datasets"))

import photograph_attributes  # noqa: E402
import tagging  # noqa: E402
import xbin  # noqa: E402

ROWS, DIMENSION = 20_000, 6


def photographs():
    return [types.SimpleNamespace(digest=f"{number + 1:x}" * 64, sides=(800, 500)) for number in range(4)]


def places(rows, seed):
    random = np.random.default_rng(seed)
    made = np.zeros(rows, photograph_attributes.PLACE)
    made["photograph"] = random.integers(0, 4, rows)
    made["size"] = random.integers(0, 5, rows)
    made["x"], made["y"] = random.integers(0, 800, rows), random.integers(0, 500, rows)
    made["contrast"] = random.random(rows) * 60
    return made


def tagged(rows=ROWS, seed=1):
    made = places(rows, 7)
    return photograph_attributes.Attributes(
        made, *tagging.Tagger(photographs(), seed).tags_of("base", made),
        [one.digest for one in photographs()])


class Tags(unittest.TestCase):
    def test_about_eleven_a_row_each_once_and_ascending(self):
        base = tagged()
        self.assertAlmostEqual(len(base.tags) / ROWS, 11, delta=0.25)
        for row in range(0, ROWS, 97):
            tags = base.tags_of(row).tolist()
            self.assertEqual(tags, sorted(set(tags)))
            self.assertGreaterEqual(len(tags), 1)
        self.assertLess(int(base.tags.max()), tagging.TAGS)

    def test_common_tags_have_the_share_of_their_rank(self):
        """A tag of all comes with every draw by 1/2 of 1 / (r + 1) / H; few tags are preferred too."""
        base = tagged()
        preferred = set(np.concatenate([tagging.Tagger(photographs(), 1).preferred.ravel(),
                                        tagging.Tagger(photographs(), 1).cells.ravel()]).tolist())
        harmonic = sum(1 / rank for rank in range(1, tagging.TAGS + 1))
        poisson = np.random.default_rng(1).poisson(tagging.MORE, 100_000) + tagging.LEAST
        seen = 0
        for tag in set(range(30)) - preferred:
            chance = tagging.FOR_ALL / (tag + 1) / harmonic
            expected = ROWS * (1 - ((1 - chance)**poisson).mean())
            self.assertAlmostEqual(len(base.rows_with([tag])), expected, delta=5 * expected**0.5 + 5)
            seen += 1
        self.assertGreater(seen, 20)

    def test_photographs_and_cells_prefer_tags(self):
        base, tagger = tagged(), tagging.Tagger(photographs(), 1)
        cells = tagger.cell_of(base.places)
        self.assertEqual(set(cells.tolist()), set(range(40)))
        own = np.flatnonzero((base.places["x"] // 100 == 5) & (base.places["y"] // 100 == 2))
        self.assertEqual(set(cells[own].tolist()), {21})
        for photograph in range(4):
            rows = base.rows_with([tagger.preferred[photograph, 0]])
            self.assertGreater((base.places["photograph"][rows] == photograph).mean(), 0.9)
            rows = base.rows_with([tagger.cells[photograph, 21, 0]])
            share = ((base.places["photograph"][rows] == photograph) & (cells[rows] == 21)).mean()
            self.assertGreater(share, 0.8)

    def test_the_same_again_and_other_ones_by_another_seed(self):
        first, again, other = tagged(), tagged(), tagged(seed=2)
        np.testing.assert_array_equal(first.tags, again.tags)
        np.testing.assert_array_equal(first.tag_ends, again.tag_ends)
        self.assertNotEqual(first.tags.tobytes(), other.tags.tobytes())


class Rows(unittest.TestCase):
    def test_rows_with_tags_against_every_row(self):
        base = tagged(3000)
        sets = [set(base.tags_of(row).tolist()) for row in range(3000)]
        random = np.random.default_rng(3)
        for _ in range(200):
            own = base.tags_of(int(random.integers(3000)))
            tags = random.choice(own, min(len(own), int(random.integers(1, 4))), replace=False).tolist()
            expected = [row for row, has in enumerate(sets) if has.issuperset(tags)]
            self.assertEqual(base.rows_with(tags).tolist(), expected)
        unused = next(tag for tag in range(tagging.TAGS) if not any(tag in has for has in sets))
        self.assertEqual(len(base.rows_with([unused])), 0)
        self.assertEqual(len(base.rows_with([0, tagging.TAGS - 1])),
                         sum(has.issuperset((0, tagging.TAGS - 1)) for has in sets))

    def test_columns_are_what_the_arrays_have(self):
        base = tagged(50)
        columns = base.columns(10, 60)
        self.assertEqual([len(column) for column in columns.values()], [40] * 6)
        for place, record in enumerate(base.records(10, 60)):
            here = base.places[10 + place]
            self.assertEqual(record["photograph"], photographs()[here["photograph"]].digest[:12])
            self.assertEqual([record[name] for name in ("size", "x", "y")],
                             [here[name] for name in ("size", "x", "y")])
            self.assertAlmostEqual(record["contrast"], here["contrast"], delta=0.0051)
            self.assertEqual(record["tags"], [f"t{tag}" for tag in base.tags_of(10 + place)])


class Queries(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        random = np.random.default_rng(5)
        # Few values, so that many distances are equal.
        self.vectors = {name: random.integers(0, 4, (rows, DIMENSION)).astype(np.uint8)
                        for name, rows in (("base", 4000), ("query", 60), ("held", 60))}
        for seed, (name, rows) in enumerate(self.vectors.items()):
            xbin.write_rows(self.folder / f"{name}.u8bin", rows.shape, [rows])
            xbin.write_array(self.folder / f"{name}.places.npy", places(len(rows), seed))
        self.facts = tagging.tag(self.folder, ".u8bin", photographs(), 1)
        (self.folder / "made.json").write_text(json.dumps(
            {"photographs": [one.digest for one in photographs()]}))

    def lines(self, name):
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    def test_filters_are_of_own_tags_and_have_matches(self):
        base = [set(row["tags"]) for row in self.lines("base.jsonl")]
        kinds = set()
        for name in "query", "held":
            matches = []
            for line in self.lines(f"{name}.jsonl"):
                tags = set(line["filter"].split("'")[1::2])
                kinds.add((len(tags), line["filter"].split("(")[0]))
                self.assertTrue(tags <= set(line["tags"]))
                matches.append(sum(has >= tags for has in base))
                self.assertEqual(line["matches"], matches[-1])
            self.assertGreaterEqual(min(matches), 1)
            self.assertEqual(self.facts[f"{name}_matches"]["50%"], sorted(matches)[(len(matches) - 1) // 2])
            self.assertEqual(self.facts[f"{name}_matches"]["100%"], max(matches))
        self.assertEqual(kinds, {(1, "tags contains any "), (2, "tags contains all ")})

    def test_true_neighbours_are_the_nearest_that_match(self):
        base = [set(row["tags"]) for row in self.lines("base.jsonl")]
        for name in "query", "held":
            file = np.fromfile(self.folder / f"{name}.gt10.ibin", "<u4")
            self.assertEqual(file[:2].tolist(), [60, 10])
            ids, distances = file[2:602].reshape(60, 10), file[602:].view("<f4").reshape(60, 10)
            for number, line in enumerate(self.lines(f"{name}.jsonl")):
                tags = set(line["filter"].split("'")[1::2])
                apart = ((self.vectors["base"].astype(int) - self.vectors[name][number])**2).sum(axis=1)
                expected = sorted((apart[row], row) for row, has in enumerate(base) if has >= tags)[:10]
                expected += [(np.inf, 0xFFFFFFFF)] * (10 - len(expected))
                self.assertEqual(list(zip(distances[number], ids[number])), expected)

    def test_the_folder_is_read_as_it_was_written(self):
        base = photograph_attributes.Attributes.of_folder(self.folder)
        self.assertEqual(base.records(0, len(base)), self.lines("base.jsonl"))
        self.assertEqual((len(base.tags), len(base)), (self.facts["labels"], 4000))
        (self.folder / "base.tags.npy").unlink()
        with self.assertRaisesRegex(ValueError, "before rows had attributes"):
            photograph_attributes.Attributes.of_folder(self.folder)

    def test_a_row_without_common_tags_asks_for_the_commonest(self):
        base = photograph_attributes.Attributes.of_folder(self.folder)
        unused = next(tag for tag in range(tagging.TAGS) if not len(base.rows_with([tag])))
        self.assertEqual(tagging.choose_tags(base, np.array([unused]), np.random.default_rng(1)),
                         [int(np.bincount(base.tags).argmax())])


if __name__ == "__main__":
    unittest.main()
