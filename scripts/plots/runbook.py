#!/usr/bin/python3
"""Draws the JSON lines of `farvec runbook`: recall and rates over the steps.

Example:
    scripts/plots/runbook.py run.jsonl --out docs/results/runbook.png --title "sift1m, sliding"

Above: recall of every search, and of indexes that were built from nothing where the run made some
(--rebuild-every). Below: searches and inserts a second; the vectors that are there in grey.
"""
import argparse
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#999999"


def read_steps(path):
    steps = []
    for number, text in enumerate(pathlib.Path(path).read_text().splitlines(), start=1):
        try:
            line = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}:{number}: not a JSON object: {error}") from error
        if "operation" in line:
            steps.append(line)
    if not any("recall" in step for step in steps):
        raise ValueError(f"{path}: no step that searched: did the run finish?")
    return steps


def points(steps, operation, value):
    return zip(*[(step["step"], step[value]) for step in steps if step["operation"] == operation])


def draw_recall(axes, steps):
    axes.plot(*points(steps, "search", "recall"), color=BLUE, linewidth=1.4, label="collection")
    rebuilt = [(step["step"], step["rebuilt"]["recall"]) for step in steps if "rebuilt" in step]
    if rebuilt:
        axes.plot(*zip(*rebuilt), "o", color=ORANGE, markersize=5, label="built from nothing")
    axes.set_ylabel("recall@10")
    axes.grid(alpha=0.3)
    axes.legend(loc="best")


def draw_rates(axes, steps):
    axes.plot(*points(steps, "search", "per_second"), color=BLUE, linewidth=1.4, label="searches")
    if any(step["operation"] == "insert" for step in steps):
        axes.plot(*points(steps, "insert", "per_second"), color=GREEN, linewidth=1.2,
                  label="inserts")
    axes.set_yscale("log")
    axes.set_ylabel("a second")
    axes.set_xlabel("step")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    live = axes.twinx()
    live.fill_between([step["step"] for step in steps], [step["live"] for step in steps],
                      color=GREY, alpha=0.2, linewidth=0)
    live.set_ylabel("vectors")
    live.set_ylim(bottom=0)


def draw(steps, path, title):
    figure, (above, below) = pyplot.subplots(2, 1, figsize=(8.4, 6), sharex=True,
                                             layout="constrained")
    draw_recall(above, steps)
    draw_rates(below, steps)
    if title:
        figure.suptitle(title)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", help="of farvec runbook --json")
    parser.add_argument("--out", required=True, help=".png")
    parser.add_argument("--title", default="")
    options = parser.parse_args(arguments)
    try:
        draw(read_steps(options.lines), options.out, options.title)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
