"""Synthetic tags for the rows of photographs, and queries that ask for them.

A row draws 2 tags and as many more as a Poisson variable of mean 9.4 says; equal ones count once. Each
draw is one of

    half        a tag of all: number r of 200,000, with a chance in proportion to 1 / (r + 1)
    a quarter   a tag of the photograph: it has 1,000 of the 200,000 at random, in a random order, and
                the chance is in proportion to 1 / (place in this order)
    a quarter   a tag of the cell: each photograph has 8 x 5 cells, each with 100 tags likewise

so that tags say something of the vector, as those of people do. The tags that a photograph and its
cells prefer hang on the seed and on its bytes. Nothing is drawn from the streams that choose and
shuffle the rows.
"""
import json
import sys
import zlib

import numpy as np

import xbin
from photograph_attributes import NAME_DIGITS, SCHEMA, Attributes, filter_text

TAGS = 200_000
OF_PHOTOGRAPH, OF_CELL = 1_000, 100
COLUMNS, LINES = 8, 5  # cells of a photograph
LEAST, MORE = 2, 9.4
FOR_ALL, FOR_PHOTOGRAPH = 0.5, 0.25  # of the draws; the others are the cell's
BLOCK = 100_000
K = 10
NOTHING = 0xFFFFFFFF  # the id where fewer than K rows match
MOST_TEXT_ROWS = 1_000_000
QUANTILES = (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)


def zipf(count):
    """The cumulated chances of places that are drawn in proportion to 1 / (place + 1)."""
    chances = np.cumsum(1 / np.arange(1, count + 1))
    return chances / chances[-1]


def drawn(chances, uniform):
    return np.minimum(np.searchsorted(chances, uniform, side="right"), len(chances) - 1)


class Tagger:
    """What each photograph and each of its cells prefers."""

    def __init__(self, photographs, seed):
        self.seed = seed
        self.sides = np.array([one.sides for one in photographs], np.int64)
        self.preferred, self.cells = [], []
        for one in photographs:
            random = np.random.default_rng([seed, zlib.crc32(b"tags"), int(one.digest[:15], 16)])
            self.preferred.append(random.choice(TAGS, OF_PHOTOGRAPH, replace=False))
            self.cells.append([random.choice(TAGS, OF_CELL, replace=False)
                               for _ in range(COLUMNS * LINES)])
        self.preferred, self.cells = np.array(self.preferred), np.array(self.cells)
        self.chances = zipf(TAGS), zipf(OF_PHOTOGRAPH), zipf(OF_CELL)

    def cell_of(self, places):
        width, height = self.sides[places["photograph"]].T
        column = np.minimum(places["x"] * COLUMNS // width, COLUMNS - 1)
        line = np.minimum(places["y"] * LINES // height, LINES - 1)
        return line * COLUMNS + column

    def draw(self, places, random):
        """(how many tags each row has, all of them)."""
        draws = LEAST + random.poisson(MORE, len(places))
        row = np.repeat(np.arange(len(places)), draws)
        kind, uniform = random.random(len(row)), random.random(len(row))
        photograph, cell = places["photograph"][row], self.cell_of(places)[row]
        tags = drawn(self.chances[0], uniform)
        mine = (kind >= FOR_ALL) & (kind < FOR_ALL + FOR_PHOTOGRAPH)
        tags[mine] = self.preferred[photograph[mine], drawn(self.chances[1], uniform[mine])]
        mine = kind >= FOR_ALL + FOR_PHOTOGRAPH
        tags[mine] = self.cells[photograph[mine], cell[mine], drawn(self.chances[2], uniform[mine])]
        pairs = np.unique(row * TAGS + tags)
        return np.bincount(pairs // TAGS, minlength=len(places)), (pairs % TAGS).astype("<u4")

    def tags_of(self, name, places):
        """(where the tags of each row end, all tags) of the rows of a file."""
        counts, tags = [], []
        for start in range(0, len(places), BLOCK):
            random = np.random.default_rng([self.seed, zlib.crc32(f"tags of {name}".encode()),
                                            start])
            some = self.draw(places[start:start + BLOCK], random)
            counts.append(some[0])
            tags.append(some[1])
        return np.cumsum(np.concatenate(counts)).astype("<u8"), np.concatenate(tags)


def choose_tags(base, own, random):
    """One or two of a row's tags, which some row of the base has; its commonest tag where none has."""
    own = random.permutation(own).tolist()
    pairs = [[one, other] for place, one in enumerate(own) for other in own[:place]]
    ones = [[one] for one in own]
    for tags in pairs + ones if random.random() < 0.5 else ones + pairs:
        if len(base.rows_with(tags)):
            return sorted(tags)
    return [int(np.diff(base.by_tag[1]).argmax())]


def nearest(vectors, query, rows):
    """The K nearest of these rows by l2, exactly; of equal ones the first."""
    distances = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), BLOCK):
        apart = vectors[rows[start:start + BLOCK]].astype(np.float32) - query.astype(np.float32)
        distances[start:start + BLOCK] = np.einsum("ij,ij->i", apart, apart)
    if len(rows) > K:
        near = np.flatnonzero(distances <= np.partition(distances, K - 1)[K - 1])
        rows, distances = rows[near], distances[near]
    order = np.lexsort((rows, distances))[:K]
    ids, found = np.full(K, NOTHING, np.uint32), np.full(K, np.inf, np.float32)
    ids[:len(order)], found[:len(order)] = rows[order], distances[order]
    return ids, found


def ask(folder, suffix, name, base, tagger, photographs):
    """Writes filters and true neighbours of the queries of a file; returns their matches."""
    places = np.load(folder / f"{name}.places.npy")
    own = Attributes(places, *tagger.tags_of(name, places), photographs)
    random = np.random.default_rng([tagger.seed, zlib.crc32(f"filters of {name}".encode())])
    queries = xbin.map_rows(folder / f"{name}{suffix}")
    vectors = xbin.map_rows(folder / f"base{suffix}")
    matches, lines, found = [], [], []
    for row, record in enumerate(own.records(0, len(own))):
        tags = choose_tags(base, own.tags_of(row), random)
        rows = base.rows_with(tags)
        matches.append(len(rows))
        lines.append(json.dumps({**record, "filter": filter_text(tags), "matches": len(rows)}))
        found.append(nearest(vectors, queries[row], rows))
    xbin.write_text(folder / f"{name}.jsonl", "\n".join(lines) + "\n")
    xbin.write_neighbours(folder / f"{name}.gt10.ibin", *map(np.array, zip(*found)))
    return matches


def write_text_rows(folder, base):
    def lines():
        for start in range(0, len(base), BLOCK):
            yield "".join(json.dumps(record) + "\n"
                          for record in base.records(start, start + BLOCK))
    xbin.write_texts(folder / "base.jsonl", lines())
    xbin.write_text(folder / "schema.txt", SCHEMA + "\n")


def tag(folder, suffix, photographs, seed):
    """Gives the rows of a folder their tags, and its queries their filters; returns facts of both."""
    tagger, digests = Tagger(photographs, seed), [one.digest for one in photographs]
    places = np.load(folder / "base.places.npy")
    base = Attributes(places, *tagger.tags_of("base", places), digests)
    xbin.write_array(folder / "base.tag_ends.npy", base.tag_ends)
    xbin.write_array(folder / "base.tags.npy", base.tags)
    if len(base) <= MOST_TEXT_ROWS:
        write_text_rows(folder, base)
    facts = {"labels": len(base.tags), "tags_used": int(np.count_nonzero(np.diff(base.by_tag[1]))),
             "labels_sha256": xbin.sha256(folder / "base.tags.npy"),
             "places_sha256": xbin.sha256(folder / "base.places.npy"),
             "sides": {one.digest[:NAME_DIGITS]: "{}x{}".format(*one.sides) for one in photographs}}
    print(f"{facts['labels'] / len(base):.2f} tags a row, {facts['tags_used']:,} different ones",
          file=sys.stderr)
    for name in ("held", "query") if (folder / f"held{suffix}").exists() else ("query",):
        matches = ask(folder, suffix, name, base, tagger, digests)
        spread = np.quantile(matches, QUANTILES, method="lower").tolist()
        facts[f"{name}_matches"] = {f"{q:.0%}": int(value) for q, value in zip(QUANTILES, spread)}
        print(f"{name}: rows that match, by shares of the queries: " + ", ".join(
            f"{q} {value:,}" for q, value in facts[f"{name}_matches"].items()), file=sys.stderr)
    return facts
