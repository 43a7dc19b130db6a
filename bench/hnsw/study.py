#!/usr/bin/env python3
"""Redraws figures of "Turbocharging Vector Databases using Modern SSDs" with farvec's paged HNSW.

Example:
    taskset -c 1 bench/hnsw/study.py reads orders growth --data base.fbin --queries query.fbin \\
        --metric l2 --out deep20k

Studies, each with the paper's numbers beside its table:
    reads       figures 4a, 4c, 4e, 8c: ways of reading, buffers, searches in flight, partitions
    inserts     figure 4d: a hundredth of the rows goes in, by the way of reading
    orders      figures 6, 7a to 7d: a twentieth goes in, by order, way of reading, in flight
    pages       figures 8a, 8b: hits by nodes in a partition and by page size
    sizes       figure 8d: hits by rows
    shares      figures 9a to 9c: a tenth goes in, by the share of partitions with insert pages
    growth      figure 9d: nine tenths go in
    together    figure 10: order and partitions, each alone and both

Everything that was measured is a line of OUT/study.jsonl; a run goes on where the last one ended:
another set, or other --rows, --list, --warm and --measured, want another OUT.
--show prints the tables of what is there. The graph is on the disk of OUT, read with O_DIRECT.
Hits, reads and bytes are exact; rates and seconds want a machine with nothing else to do.
"""
import argparse
import json
import pathlib

import study_plans
import study_tables
import workshop

ROOT = pathlib.Path(__file__).resolve().parents[2]


def parse_arguments(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("studies", nargs="*", metavar="STUDY", help=", ".join(study_plans.STUDIES) + " [all]")
    add("--data", required=True, help=".fbin, .u8bin or .i8bin")
    add("--queries", required=True, help="the first fill buffers, those behind them are measured")
    add("--metric", choices=("l2", "ip", "cosine"), default="l2")
    add("--rows", type=int, help="the first so many alone [all]")
    add("--warm", type=int, default=100, help="queries that fill a buffer (%(default)s)")
    add("--measured", type=int, default=100, help="queries that are measured (%(default)s)")
    add("--passes", type=int, default=5, help="of searches, in turn (%(default)s)")
    add("--list", type=int, default=40, help="ef of searches (%(default)s)")
    add("--bin", default=str(ROOT / "build" / "release" / "bin"), help="folder of farvec")
    add("--out", required=True, help="folder of graphs and results")
    add("--where", action="append", default=[], metavar="NAME=VALUE[,VALUE]",
        help="only points with one of these values, as study.jsonl names them; again for others")
    add("--show", action="store_true", help="print what was measured, measure nothing")
    arguments = parser.parse_args(words)
    arguments.studies = arguments.studies or list(study_plans.STUDIES)
    if not all("=" in condition for condition in arguments.where):
        parser.error("--where takes NAME=VALUE, for example slots=1 or order=none,pca")
    for name in arguments.studies:
        if name not in study_plans.STUDIES:
            parser.error(f"no study '{name}': {', '.join(study_plans.STUDIES)}")
    return arguments


class Results:
    """Lines of a file: {"study": ..., "point": {...}, "found": ...}."""

    def __init__(self, path):
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.rows = [json.loads(line) for line in lines]

    def of(self, study):
        return [row for row in self.rows if row["study"] == study]

    def take(self, study, point, measure):
        """Measures a point, unless it was."""
        if any(row["point"] == point for row in self.of(study)):
            return
        row = {"study": study, "point": point, "found": measure()}
        self.rows.append(row)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def main(words=None):
    arguments = parse_arguments(words)
    shop = workshop.Workshop(pathlib.Path(arguments.bin) / "farvec", arguments.out, arguments.data,
                             arguments.queries, arguments.metric, arguments.rows)
    if not arguments.show:
        shop.take_queries(arguments.warm + arguments.measured)
    results = Results(shop.folder / "study.jsonl")
    for name in arguments.studies:
        if not arguments.show:
            study_plans.STUDIES[name](study_plans.Study(name, shop, results, arguments))
        print(study_tables.page(name, results.of(name)), flush=True)


if __name__ == "__main__":
    main()
