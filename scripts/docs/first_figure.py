#!/usr/bin/python3
"""Draws the figure at the top of README from the table of sift1m in docs/results/003.

    scripts/docs/first_figure.py [OUT.svg]        (default: docs/images/far-memory.svg)

What is drawn are the medians that stand there; when the table changes, run it again.
"""
import pathlib
import re
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "results" / "003-tiers-layouts-cache.md"
SLOTS = {4: 1, 5: 4, 6: 8}  # column of the table: searches in flight
SHOWN = (("dram", 8, "local DRAM, 8 searches in flight", "#7f8894", "-", "o"),
         ("emulated:rdma", 8, "modelled RDMA, 8 searches in flight", "#0072B2", "-", "o"),
         ("emulated:rdma", 1, "modelled RDMA, one at a time", "#D55E00", "--", "s"))


def rows(text):
    """{(tier, slots): [(recall, rate), ...]} of the first table."""
    table = text.split("sift1m, QPS:")[1].split("text300k, QPS:")[0]
    found = {}
    for line in table.splitlines():
        cells = [cell.strip(" `") for cell in line.strip("|").split("|")]
        if re.fullmatch(r"\d+", cells[0]):
            recall, tier = float(cells[1]), cells[4]
            for column, slots in SLOTS.items():
                rate = float(cells[column + 1].split(" ")[0].replace(",", ""))
                found.setdefault((tier, slots), []).append((recall, rate))
    return found


def draw(found, path):
    matplotlib.rcParams["svg.hashsalt"] = "farvec"
    figure, axes = pyplot.subplots(figsize=(7.6, 3.1), layout="constrained")
    for tier, slots, label, colour, line, marker in SHOWN:
        points = found[tier, slots]
        axes.plot([point[0] for point in points], [point[1] / 1000 for point in points], line,
                  marker=marker, color=colour, label=label, linewidth=1.8)
    axes.set_xlabel("recall@10")
    axes.set_ylabel("thousand queries per second")
    axes.set_ylim(0)
    axes.grid(True, linewidth=0.5, alpha=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    axes.set_title("sift1m, one core: far memory, read while other searches compute", fontsize=10)
    figure.savefig(path, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    draw(rows(PAGE.read_text()), sys.argv[1] if sys.argv[1:] else ROOT / "docs/images/far-memory.svg")
