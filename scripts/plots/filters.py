#!/usr/bin/python3
"""Draws the JSON lines of scripts/bench/filters.py: what a filtered search costs by the share of rows
that match, in reads, bytes and queries per second. Tiers that have the same counts hide each other.

Example:
    scripts/bench/filters.py --base base.u8bin --queries query.u8bin --tier dram --json dram.jsonl
    scripts/plots/filters.py dram.jsonl rdma.jsonl ssd.jsonl --out filters.png
"""
import argparse
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)

from sweep import COLOURS, MARKERS, read_lines  # noqa: E402

REQUIRED = ("condition", "tier", "rows", "recall", "matches", "reads", "bridges", "bytes", "qps")


def series_of(lines):
    """{tier: [(share of the rows that match, line)]}, for the conditions that say nothing of the vector"""
    series = {}
    for line in lines:
        if line["condition"].startswith("part:"):
            series.setdefault(line["tier"], []).append((line["matches"] / line["rows"], line))
    return {tier: sorted(points, key=lambda point: point[0]) for tier, points in series.items()}


def line_of(axes, points, key, place, **style):
    axes.plot([share for share, _ in points], [line[key] for _, line in points], linewidth=1.4, markersize=5,
              color=COLOURS[place % len(COLOURS)], marker=MARKERS[place % len(MARKERS)], **style)


def draw(lines, path):
    figure, (reads, size, rates) = pyplot.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    series = series_of(lines)
    for place, (tier, points) in enumerate(series.items()):
        line_of(reads, points, "reads", place, label=f"{tier}: all reads")
        line_of(reads, points, "bridges", place, linestyle=":", label=f"{tier}: bridges, neighbours alone")
        line_of(size, points, "bytes", place, label=tier)
        line_of(rates, points, "qps", place, label=tier)
    for axes, name in ((reads, "reads per query"), (size, "bytes per query"), (rates, "queries per second")):
        axes.set_xscale("log")
        axes.set_xlabel("share of the rows that match")
        axes.set_ylabel(name)
        axes.grid(True, linewidth=0.4, alpha=0.4)
        axes.legend(fontsize=7, frameon=False)
    reads.set_ylim(bottom=0)
    size.set_ylim(bottom=0)
    rates.set_yscale("log")
    least = min(line["recall"] for points in series.values() for _, line in points)
    figure.suptitle(f"{lines[0]['rows']:,} rows, recall at least {least:.2f}", fontsize=9)
    figure.savefig(path, dpi=160)
    pyplot.close(figure)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="JSON lines of scripts/bench/filters.py")
    parser.add_argument("--out", default="filters.png", type=pathlib.Path, help="file of the figure")
    options = parser.parse_args(arguments)
    try:
        lines = read_lines(options.files, REQUIRED)
        if not series_of(lines):
            raise ValueError("the files have no line of a condition on `part`")
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    draw(lines, options.out)
    print(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
