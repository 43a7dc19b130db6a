"""Vectors of photographs: what sift_dense.py and hog.py share.

Every tenth photograph is kept for the queries: nothing of it is in the base. A photograph is looked
at in five sizes, each half as large in area, at points of a grid where the patch has contrast. All
photographs give about as many rows. Rows are distinct and shuffled. The same files, options and
versions of OpenCV and numpy give the same bytes, as far as the descriptor is rounded alike.

Writes base.*, query.*, held.*, their attributes (tagging.py) and made.json (what was made of what) into
a folder, each under its name when it is complete. held.* are further rows of the photographs of the
base, which the base does not have. Interrupted, the same command goes on: what finished photographs
gave is kept in FOLDER/parts-... until the end. Takes memory of twice the base.
"""
import argparse
import dataclasses
import hashlib
import json
import pathlib
import shutil
import sys
import time
import typing
import zlib

import numpy as np

import tagging
import xbin
from photograph_attributes import PLACE

try:
    import cv2
except ImportError:
    cv2 = None

SCALES = tuple(0.5 ** (power / 2) for power in range(5))  # of the side
QUERY_SHARE = 10  # one photograph of so many
SPARE = 1.05  # descriptors made for one that is wanted: duplicates fall out
LOOK_ALIKE = 0.97  # correlation of thumbnails
BLOCK = 100_000


@dataclasses.dataclass(frozen=True)
class Descriptor:
    """What is told of a patch, and which patches have room and contrast for it."""

    name: str  # what it is, with what its bytes hang on
    dimension: int
    suffix: str  # of the files, which gives the element type
    margin: int  # pixels from the border to the nearest point
    box: int  # pixels: the window of the contrast
    describe: typing.Callable  # (grey picture, [(x, y)]) to a row per point
    rows: int  # of the base, when nothing is asked for
    step: int  # pixels of the grid, likewise

    @property
    def element_type(self):
        return xbin.SUFFIXES[self.suffix]


class Photograph:
    """One file; what is made of it hangs on its bytes, not on where it lies."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.digest = xbin.sha256(path)
        self.grey = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
        if self.grey is None:
            raise ValueError(f"{path} is not a picture that OpenCV reads")
        self.pixels = self.grey.size
        self.sides = self.grey.shape[::-1]  # width and height
        small = cv2.resize(self.grey, (32, 20), interpolation=cv2.INTER_AREA).astype(np.float64)
        self.thumbnail = (small - small.mean()) / (small.std() * np.sqrt(small.size) + 1e-9)

    def forget(self):
        self.grey = None

    def scaled(self, scale):
        if self.grey is None:
            self.grey = cv2.imread(str(self.path), cv2.IMREAD_GRAYSCALE)
        return cv2.resize(self.grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)


def points_of(grey, descriptor, options):
    """(x, y) on a grid, where the patch has contrast, and how much."""
    margin, box = descriptor.margin, descriptor.box
    if min(grey.shape) <= 2 * margin:
        return np.empty((0, 2), np.int32), np.empty(0, np.float32)
    values = grey.astype(np.float32)
    mean = cv2.blur(values, (box, box))
    variance = cv2.blur(values * values, (box, box)) - mean * mean
    grid = variance[margin:-margin:options.step, margin:-margin:options.step]
    y, x = np.nonzero(grid >= options.contrast**2)
    return np.stack((x, y), 1).astype(np.int32) * options.step + margin, np.sqrt(grid[y, x])


def points_by_scale(photograph, descriptor, options):
    return [points_of(photograph.scaled(scale), descriptor, options) for scale in SCALES]


def places_of(size, points, contrasts):
    """Places in the photograph's own pixels; its number is not known here."""
    places = np.zeros(len(points), PLACE)
    places["size"] = size
    places["x"], places["y"] = np.rint(points.T / SCALES[size])
    places["contrast"] = contrasts
    return places


def describe(photograph, quota, descriptor, options):
    """Rows of `quota` of its points, chosen by the seed, and their places."""
    grids = points_by_scale(photograph, descriptor, options)
    random = np.random.default_rng([options.seed, int(photograph.digest[:15], 16)])
    chosen = np.sort(random.permutation(sum(len(points) for points, _ in grids))[:quota])
    first, parts = 0, [np.empty((0, descriptor.dimension), descriptor.element_type)]
    places = [np.empty(0, PLACE)]
    for size, (points, contrasts) in enumerate(grids):
        these = chosen[(chosen >= first) & (chosen < first + len(points))] - first
        first += len(points)
        mine = points[these]
        places.append(places_of(size, mine, contrasts[these]))
        grey = photograph.scaled(SCALES[size])
        for start in range(0, len(mine), BLOCK):
            parts.append(descriptor.describe(grey, mine[start:start + BLOCK]))
    return np.concatenate(parts), np.concatenate(places)


def load_photographs(paths):
    """Without look-alikes (of each group the largest), in an order that hangs on their bytes."""
    found = []
    for path in sorted(set(map(str, paths))):
        found.append(Photograph(path))
        found[-1].forget()
    found.sort(key=lambda one: (-one.pixels, one.digest))
    kept = []
    for one in found:
        twin = next((other for other in kept
                     if (other.thumbnail * one.thumbnail).sum() > LOOK_ALIKE), None)
        if twin:
            print(f"left out: {one.path} looks like {twin.path}", file=sys.stderr)
        else:
            kept.append(one)
    return sorted(kept, key=lambda one: one.digest)


def level_quotas(available, wanted):
    """As equal as can be, none above what is available; all of it when that is too little."""
    left, quotas = wanted, [0] * len(available)
    order = sorted(range(len(available)), key=lambda index: available[index])
    for position, index in enumerate(order):
        quotas[index] = min(available[index], -(-left // (len(order) - position)))
        left -= quotas[index]
    return quotas


def hashes(rows):
    """64 bits of each row; different rows share one with a chance of 2^-64."""
    words = np.ascontiguousarray(rows).view("<u8")
    value = np.zeros(len(rows), np.uint64)
    for column in range(words.shape[1]):
        value = (value ^ words[:, column]) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
    return value


class Maker:
    def __init__(self, descriptor, options):
        self.descriptor, self.options = descriptor, options
        self.out = pathlib.Path(options.out)
        self.facts = {"descriptor": descriptor.name, "rows": options.rows,
                      "queries": options.queries, "seed": options.seed, "step": options.step,
                      "contrast": options.contrast, "opencv": cv2.__version__,
                      "numpy": np.__version__, "tags": tagging.TAGS}

    def plan(self, photographs):
        """[(photograph, quota)] of the base and of the queries."""
        order = np.random.default_rng(self.options.seed).permutation(len(photographs))
        held = max(1, len(photographs) // QUERY_SHARE)
        plans = []
        for name, which, wanted in (("query", order[:held], self.options.queries),
                                    ("base", order[held:], self.options.rows)):
            group = [photographs[index] for index in sorted(which)]
            available = []
            for one in group:
                available.append(sum(len(points) for points, _ in points_by_scale(
                    one, self.descriptor, self.options)))
                one.forget()
            print(f"{name}: {sum(available):,} patches with contrast in {len(group)} photographs, "
                  f"{wanted:,} rows wanted", file=sys.stderr)
            if sum(available) < wanted:
                raise ValueError(f"{name}: the photographs have {sum(available):,} patches with "
                                 f"contrast and {wanted:,} are wanted: give more photographs, or a "
                                 "smaller --step or --contrast")
            plans.append(list(zip(group, level_quotas(available, int(wanted * SPARE) + 100))))
        return plans

    def parts(self, plan, folder):
        """Two files a photograph, vectors and places; those that are there are kept."""
        start, made, files = time.monotonic(), 0, []
        for number, (photograph, quota) in enumerate(plan, 1):
            path = folder / f"{photograph.digest[:16]}-{quota}{self.descriptor.suffix}"
            files.append((path, path.with_suffix(".places.npy"), photograph.digest))
            if path.exists():
                continue
            rows, places = describe(photograph, quota, self.descriptor, self.options)
            photograph.forget()
            xbin.write_array(files[-1][1], places)
            xbin.write_rows(path, rows.shape, [rows])
            made += len(rows)
            print(f"photograph {number} of {len(plan)}: {len(rows):,} descriptors of "
                  f"{photograph.path.name}, {made / (time.monotonic() - start):,.0f} a second",
                  file=sys.stderr, flush=True)
        return files

    def places(self, files):
        """Of all photographs together, each with the number of its photograph."""
        parts = []
        for _, path, digest in files:
            parts.append(np.load(path))
            parts[-1]["photograph"] = self.facts["photographs"].index(digest)
        return np.concatenate(parts)

    def assemble(self, name, files, wanted, excluded):
        """Distinct rows, shuffled: writes them, and what is left of the base as queries."""
        dimension = self.descriptor.dimension
        rows = np.concatenate([
            np.fromfile(path, self.descriptor.element_type, offset=8).reshape(-1, dimension)
            for path, _, _ in files])
        marks = hashes(rows)
        first = np.unique(marks, return_index=True)[1]
        self.facts[f"{name}_described"] = len(rows)
        self.facts[f"{name}_duplicates"] = len(rows) - len(first)
        first = np.sort(first)
        first = first[~np.isin(marks[first], excluded)]
        if len(first) < wanted:
            raise ValueError(f"{name}: {len(first):,} distinct descriptors, {wanted:,} wanted: "
                             "give more photographs or a smaller --step")
        random = np.random.default_rng([self.options.seed, zlib.crc32(name.encode())])
        order = random.permutation(first)
        places = self.places(files)
        self.write(name, rows, places, order[:wanted])
        held = order[wanted:wanted + self.options.queries]
        if name == "base" and len(held) > 0:
            self.write("held", rows, places, held)
        return marks

    def write(self, name, rows, places, order):
        path = self.out / f"{name}{self.descriptor.suffix}"
        xbin.write_rows(path, (len(order), self.descriptor.dimension),
                        (rows[order[start:start + BLOCK]] for start in range(0, len(order), BLOCK)))
        xbin.write_array(self.out / f"{name}.places.npy", places[order])
        self.facts[f"{name}_sha256"] = xbin.sha256(path)

    def make(self):
        made = self.out / "made.json"
        photographs = load_photographs(self.options.photographs)
        if len(photographs) < 2:
            raise ValueError(f"{len(photographs)} photographs: at least two are needed, one of "
                             "them for the queries")
        self.facts["photographs"] = [one.digest for one in photographs]
        if made.exists():
            known = json.loads(made.read_text())
            other = [key for key, value in self.facts.items() if known.get(key) != value]
            if other:
                raise ValueError(f"{self.out} holds a set made otherwise ({', '.join(other)}): "
                                 "remove it, or name another folder")
            print(f"{self.out} is complete", file=sys.stderr)
            return
        key = hashlib.sha256(json.dumps(self.facts).encode()).hexdigest()[:12]
        folder = self.out / f"parts-{key}"
        folder.mkdir(parents=True, exist_ok=True)
        queries, base = self.plan(photographs)
        start = time.monotonic()
        query_files, base_files = self.parts(queries, folder), self.parts(base, folder)
        described = time.monotonic()
        marks = self.assemble("base", base_files, self.options.rows, np.empty(0, np.uint64))
        self.assemble("query", query_files, self.options.queries, marks)
        shuffled = time.monotonic()
        self.facts.update(tagging.tag(self.out, self.descriptor.suffix, photographs,
                                      self.options.seed))
        print(f"{described - start:,.0f} s for descriptors, {shuffled - described:,.0f} s for the "
              f"set, {time.monotonic() - shuffled:,.0f} s for attributes; "
              f"{self.facts['base_duplicates']:,} of "
              f"{self.facts['base_described']:,} were duplicates", file=sys.stderr)
        xbin.write_text(made, json.dumps(self.facts, indent=1) + "\n")
        shutil.rmtree(folder)


def parse_arguments(descriptor, description, arguments):
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photographs", nargs="+", help="picture files, at least two")
    parser.add_argument("--out", required=True, help="folder to write into")
    parser.add_argument("--rows", type=int, default=descriptor.rows,
                        help="of the base (%(default)s)")
    parser.add_argument("--queries", type=int, default=2_000, help="(%(default)s)")
    parser.add_argument("--step", type=int, default=descriptor.step,
                        help="pixels of the grid (%(default)s)")
    parser.add_argument("--contrast", type=float, default=5.0,
                        help="least standard deviation of a patch, grey levels (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    for name in ("rows", "queries", "step"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is at least 1")
    return options


def main(descriptor, description, arguments):
    """Of a script that makes a set of `descriptor`; answers its exit status."""
    options = parse_arguments(descriptor, description, arguments)
    if cv2 is None:
        print("error: this Python has no OpenCV: `pip install opencv-python-headless`, or use "
              "scripts/datasets/get.sh, which makes an environment of its own", file=sys.stderr)
        return 1
    try:
        Maker(descriptor, options).make()
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: the same command goes on", file=sys.stderr)
        return 130
    return 0
