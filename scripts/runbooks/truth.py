#!/usr/bin/env python3
"""Finds the true neighbours for every search step of a streaming runbook.

Example:
    scripts/runbooks/truth.py hog/sliding.yaml --data hog/base.fbin --queries hog/query.fbin \\
        --metric l2

Writes stepN.gt100 for every step N that searches, as big-ann-benchmarks names them: u32 queries,
u32 100, ids, distances; the nearest of the rows that are in at that moment. They go into
ROWS/RUNBOOK.yaml/ beside the data, as there, or into --out. Rows that come and go together are
compared with the queries once (`farvec dataset groundtruth`), so that a runbook costs as much as
one ground truth of the whole set. Interrupted, the same command goes on: what is compared is kept
in parts-... until the end. Needs farvec, or its path in FARVEC.
"""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np

import runbook

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "datasets"))
import xbin  # noqa: E402

K = 100
QUERIES = 500  # merged at a time
SIGN, ALL = np.uint32(0x80000000), np.uint32(0xFFFFFFFF)


def keys_of(ids, distances):
    """One number each that is ordered by distance, then by id."""
    bits = (distances + np.float32(0)).view(np.uint32)
    bits = bits ^ np.where(bits & SIGN, ALL, SIGN)
    return bits.astype(np.uint64) << np.uint64(32) | ids.astype(np.uint64)


def ids_and_distances(keys):
    bits = (keys >> np.uint64(32)).astype(np.uint32)
    bits = bits ^ np.where(bits & SIGN, SIGN, ALL)
    return (keys & np.uint64(ALL)).astype(np.uint32), bits.view(np.float32)


def segments_of(steps):
    """Ranges of what goes in that no step cuts: (start, end), in order."""
    inserts = [step for step in steps if step.operation == "insert"]
    bounds = sorted({bound for step in steps if step.operation != "search"
                     for bound in (step.start, step.end)})
    return [(start, end) for start, end in zip(bounds, bounds[1:])
            if any(step.start <= start and end <= step.end for step in inserts)]


class Truth:
    def __init__(self, options, steps):
        self.options, self.steps = options, steps
        self.rows = xbin.map_rows(options.data)
        self.queries = len(xbin.map_rows(options.queries))
        runbook.check(steps, len(self.rows))
        self.segments = segments_of(steps)

    def folder(self):
        """Of what is compared, of these very files and steps."""
        options = self.options
        stats = [os.stat(path) for path in (options.data, options.queries)]
        made_of = [options.metric, self.segments,
                   [[stat.st_size, stat.st_mtime_ns] for stat in stats]]
        key = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:12]
        folder = options.out / f"parts-{key}"
        folder.mkdir(exist_ok=True)
        return folder

    def compare(self, start, end, path):
        """Writes the nearest rows of one segment, numbered from its start."""
        options = self.options
        data = path.with_name(f"rows{pathlib.Path(options.data).suffix}")
        partial = path.with_name(f"partial{path.suffix}")
        xbin.write_rows(data, (end - start, self.rows.shape[1]), [self.rows[start:end]])
        done = subprocess.run([options.farvec, "dataset", "groundtruth", "--quiet", "--data", data,
                               "--queries", options.queries, "--metric", options.metric,
                               "--k", str(min(K, end - start)), "--out", partial],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ValueError(f"rows {start}:{end}: {done.stderr.strip()}")
        data.unlink()
        partial.rename(path)

    def keys_in(self, start, path):
        raw = np.fromfile(path, np.uint32, offset=8)
        ids, distances = raw[:len(raw) // 2], raw[len(raw) // 2:].view(np.float32)
        return keys_of(ids + np.uint32(start), distances).reshape(self.queries, -1)

    def all_segments(self, folder):
        begun, keys = time.monotonic(), []
        for number, (start, end) in enumerate(self.segments, 1):
            path = folder / f"{start}-{end}.ibin"
            if not path.exists():
                self.compare(start, end, path)
                print(f"rows {end:,}: {number} of {len(self.segments)} parts, "
                      f"{time.monotonic() - begun:,.0f} s", file=sys.stderr, flush=True)
            keys.append(self.keys_in(start, path))
        return keys

    def write_step(self, number, parts):
        merged = []
        for start in range(0, self.queries, QUERIES):
            keys = np.concatenate([part[start:start + QUERIES] for part in parts], axis=1)
            keys.partition(K - 1, axis=1)
            merged.append(np.sort(keys[:, :K], axis=1))
        ids, distances = ids_and_distances(np.concatenate(merged))
        path = self.options.out / f"step{number}.gt100"
        partial = path.with_name(path.name + ".partial")
        partial.write_bytes(np.asarray(ids.shape, "<u4").tobytes() + ids.astype("<u4").tobytes() +
                            distances.astype("<f4").tobytes())
        partial.rename(path)

    def check_counts(self):
        """Before hours of work: every search has neighbours enough."""
        live = runbook.LiveRows(len(self.rows))
        for number, step in enumerate(self.steps, 1):
            if live.apply(number, step) is None and live.count < K:
                raise ValueError(f"step {number} searches {live.count} rows, fewer than {K}")

    def write(self):
        self.check_counts()
        folder = self.folder()
        keys, live = self.all_segments(folder), runbook.LiveRows(len(self.rows))
        for number, step in enumerate(self.steps, 1):
            if live.apply(number, step) is None:
                self.write_step(number, [part for part, (start, _) in zip(keys, self.segments)
                                         if live.inside[start]])
        shutil.rmtree(folder)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runbook", help=".yaml")
    parser.add_argument("--name", help="of the data set, when the runbook has several")
    parser.add_argument("--data", required=True, help=".fbin, .u8bin or .i8bin")
    parser.add_argument("--queries", required=True)
    parser.add_argument("--metric", choices=("l2", "ip", "cosine"), required=True)
    parser.add_argument("--out", type=pathlib.Path, help="folder to write into")
    options = parser.parse_args(arguments)
    options.farvec = os.environ.get("FARVEC", ROOT / "build" / "release" / "bin" / "farvec")
    return options


def main(arguments):
    options = parse_arguments(arguments)
    try:
        _, steps = runbook.read(options.runbook, options.name)
        if options.out is None:
            rows = len(xbin.map_rows(options.data))
            options.out = pathlib.Path(options.data).parent / str(rows) / pathlib.Path(
                options.runbook).name
        options.out.mkdir(parents=True, exist_ok=True)
        Truth(options, steps).write()
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: the same command goes on", file=sys.stderr)
        return 130
    print(f"{options.out}: {sum(step.operation == 'search' for step in steps)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
