#!/usr/bin/python3
"""Draws the JSON lines of `launch.sh sweep`: recall against queries per second, all compute nodes
together and each of them.

Example:
    scripts/launch/launch.sh sweep --config launch.toml --out figures
    scripts/plots/launch.py figures/sweep.jsonl --out figures

Writes OUT/<name>-qps.png.
"""
import argparse
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)

from sweep import COLOURS, MARKERS, dataset_name, read_lines  # noqa: E402

REQUIRED = ("name", "dataset", "tier", "memory_nodes", "compute_nodes", "replicas", "k", "list",
            "width", "recall", "qps", "nodes")


def series_of(lines):
    """{label: [(recall, queries per second)]}: the sum for each width, then every compute node."""
    series = {}
    for line in lines:
        series.setdefault(f"all, width {line['width']}", []).append((line["recall"], line["qps"]))
    for line in lines:
        for node in line["nodes"]:
            label = f"{node['name']}, width {line['width']}"
            series.setdefault(label, []).append((node["recall"], node["qps"]))
    return series


def title_of(line):
    return (f"{dataset_name(line)}: tier {line['tier']}, compute nodes {line['compute_nodes']}, "
            f"memory nodes {line['memory_nodes']}, copies {line['replicas']}")


def draw(lines, path):
    figure, axes = pyplot.subplots(figsize=(7.4, 4.4), layout="constrained")
    for place, (label, points) in enumerate(series_of(lines).items()):
        points = sorted(points)
        axes.plot([recall for recall, _ in points], [qps for _, qps in points], label=label,
                  color=COLOURS[place % len(COLOURS)], marker=MARKERS[place % len(MARKERS)],
                  linestyle="-" if label.startswith("all,") else "--", linewidth=1.4, markersize=5)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"recall@{lines[0]['k']}")
    axes.set_ylabel("queries per second")
    axes.set_title(title_of(lines[0]), fontsize=9)
    axes.grid(True, linewidth=0.4, alpha=0.4)
    axes.legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=200)
    pyplot.close(figure)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="JSON lines of `launch.sh sweep`")
    parser.add_argument("--out", default=".", type=pathlib.Path, help="folder for the figure")
    options = parser.parse_args(arguments)
    try:
        lines = read_lines([options.file], REQUIRED)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"{lines[0]['name']}-qps.png"
    draw(lines, path)
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
