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

    def arrow(self, first, last):
        """Of the rows `first` to before `last`, as arrays of pyarrow: no object of Python for any label."""
        import pyarrow
        places = self.places[first:last]
        contrast = np.round(places["contrast"].astype(np.float64), CONTRAST_DIGITS)
        begin = int(self.tag_ends[first - 1]) if first else 0
        ends = np.concatenate(([begin], self.tag_ends[first:last])).astype(np.int64) - begin
        tags = pyarrow.DictionaryArray.from_arrays(
            np.asarray(self.tags[begin:begin + int(ends[-1])]).astype(np.int32), self.tag_names)
        return {"photograph": pyarrow.DictionaryArray.from_arrays(places["photograph"].astype(np.int32),
                                                                  pyarrow.array(self.names)),
                "size": pyarrow.array(places["size"].astype(np.int64)),
                "x": pyarrow.array(places["x"].astype(np.int64)),
                "y": pyarrow.array(places["y"].astype(np.int64)),
                "contrast": pyarrow.array(contrast),
                "tags": pyarrow.ListArray.from_arrays(ends.astype(np.int32), tags)}

    @functools.cached_property
    def tag_names(self):
        """The name of every tag up to the largest that a row has, as an array of pyarrow."""
        import pyarrow
        return pyarrow.array([tag_name(number) for number in range(int(np.max(self.tags)) + 1)])

    def columns(self, first, last):
        """Of the rows `first` to before `last`, as lists and arrays of numpy."""
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
        counts = np.diff(np.asarray(self.tag_ends), prepend=np.uint64(0)).astype(np.int64)
        # A number has the tag in its upper half and the row in its lower one: a third of the memory, and of
        # the time, that an argsort of the tags takes.
        pairs = np.repeat(np.arange(len(self), dtype=np.uint64), counts)
        pairs |= np.asarray(self.tags).astype(np.uint64) << np.uint64(32)
        pairs.sort()
        most = int(pairs[-1] >> np.uint64(32)) if len(pairs) else -1
        begins = np.searchsorted(pairs, np.arange(most + 2, dtype=np.uint64) << np.uint64(32))
        return pairs.astype(np.uint32), begins

    def rows_with(self, tags):
        """Ascending numbers of the rows that have all of these tags."""
        rows, begins = self.by_tag
        found = [rows[begins[tag]:begins[tag + 1]] if tag + 1 < len(begins) else rows[:0]
                 for tag in tags]
        return functools.reduce(common, sorted(found, key=len))
