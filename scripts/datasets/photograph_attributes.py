"""Attributes of a set of photographs, as benchmarks read them: places, contrast and tags.

    base.places.npy     photograph (a number), size (0 is the largest), x, y, contrast, for each row
    base.tag_ends.npy   u64: where the tags of each row end in
    base.tags.npy       u32: the tags of all rows, ascending in each row

base.jsonl and schema.txt have the same as text, where the base has a million rows or fewer.
"""
import functools
import json
import pathlib

import numpy as np

PLACE = np.dtype([("photograph", "<u2"), ("size", "u1"), ("x", "<i4"), ("y", "<i4"),
                  ("contrast", "<f4")])
SCHEMA = ("photograph: string not null, size: i64 not null, x: i64 not null, y: i64 not null, "
          "contrast: f64 not null, tags: set not null")
NAME_DIGITS = 12  # of the digest of a photograph's file
CONTRAST_DIGITS = 2


def tag_name(number):
    return f"t{number}"


def filter_text(tags):
    """The condition of one tag, or of several together."""
    names = ", ".join(f"'{tag_name(tag)}'" for tag in tags)
    return f"tags contains {'any' if len(tags) == 1 else 'all'} ({names})"


def common(few, many):
    """What is in both of two ascending arrays."""
    places = np.searchsorted(many, few)
    few, places = few[places < len(many)], places[places < len(many)]
    return few[many[places] == few]


class Attributes:
    """Those of rows that are numbered from 0."""

    def __init__(self, places, tag_ends, tags, photographs):
        self.places, self.tag_ends, self.tags = places, tag_ends, tags
        self.names = [digest[:NAME_DIGITS] for digest in photographs]

    @classmethod
    def of_folder(cls, folder):
        folder = pathlib.Path(folder)
        facts = json.loads((folder / "made.json").read_text())
        if not (folder / "base.tags.npy").exists():
            raise ValueError(f"{folder} has no base.tags.npy: it was made before rows had "
                             "attributes, and has to be made again")
        return cls(*(np.load(folder / f"base.{name}.npy", mmap_mode="r")
                     for name in ("places", "tag_ends", "tags")), facts["photographs"])

    def __len__(self):
        return len(self.places)

    def tags_of(self, row):
        return self.tags[int(self.tag_ends[row - 1]) if row else 0:int(self.tag_ends[row])]

    def columns(self, first, last):
        """Of the rows `first` to before `last`, as Collection.insert() takes them."""
        places = self.places[first:last]
        contrast = np.round(places["contrast"].astype(np.float64), CONTRAST_DIGITS)
        return {"photograph": [self.names[number] for number in places["photograph"]],
                "size": places["size"].astype(np.int64), "x": places["x"].astype(np.int64),
                "y": places["y"].astype(np.int64), "contrast": contrast,
                "tags": [list(map(tag_name, self.tags_of(row).tolist()))
                         for row in range(first, min(last, len(self)))]}

    def records(self, first, last):
        """The same as a dict for each row."""
        columns = {name: column if isinstance(column, list) else column.tolist()
                   for name, column in self.columns(first, last).items()}
        return [dict(zip(columns, values)) for values in zip(*columns.values())]

    @functools.cached_property
    def by_tag(self):
        """(row of each tag, by tag and then by row; where the rows of each tag begin)."""
        tags = np.asarray(self.tags)
        counts = np.diff(np.asarray(self.tag_ends), prepend=np.uint64(0)).astype(np.int64)
        rows = np.repeat(np.arange(len(self), dtype=np.uint32), counts)
        begins = np.concatenate(([0], np.cumsum(np.bincount(tags))))
        return rows[np.argsort(tags, kind="stable")], begins

    def rows_with(self, tags):
        """Ascending numbers of the rows that have all of these tags."""
        rows, begins = self.by_tag
        found = [rows[begins[tag]:begins[tag + 1]] if tag + 1 < len(begins) else rows[:0]
                 for tag in tags]
        return functools.reduce(common, sorted(found, key=len))
