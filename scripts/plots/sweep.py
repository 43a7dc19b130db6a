#!/usr/bin/python3
"""Draws the JSON lines of `farvec sweep`: recall against QPS and p99, and index sizes.

Example:
    build/release/bin/farvec sweep --index INDEX --queries Q --groundtruth G --k 10 \\
        --list 20,40,80 --width 1,4 --slots 1,16 --threads 1 --tier dram,emulated:rdma \\
        --json sweep.jsonl
    scripts/plots/sweep.py sweep.jsonl --out figures --summary

Writes OUT/<dataset>-qps.png, OUT/<dataset>-p99.png and OUT/<dataset>-size.png, one of each per
data set in the files. A line's points are lists and widths of a graph, or the clusters that were
probed, whose number stands beside the point. Combinations that could not run are left out.
"""
import argparse
import collections
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

REQUIRED = ("dataset", "layout", "tier", "k", "slots", "threads", "recall", "qps", "p99_us",
            "index_bytes", "dataset_bytes", "compute_dram_bytes")
OF_GRAPH = ("list", "width")
OF_CLUSTERS = ("probe", "dedup")
MARKERS = "osD^vP*X<>"
# Okabe and Ito's palette: told apart by colour-blind readers and in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def read_lines(paths, required=REQUIRED):
    lines = []
    for path in paths:
        for number, text in enumerate(pathlib.Path(path).read_text().splitlines(), start=1):
            if text.strip():
                line = parse_line(f"{path}:{number}", text, required)
                if line is not None:
                    lines.append(line)
    if not lines:
        raise ValueError(f"no line in {', '.join(map(str, paths))}: did the sweep finish?")
    return lines


def parse_line(where, text, required):
    try:
        line = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{where}: not a JSON object: {error}") from error
    if "error" in line:
        print(f"{where}: left out, it could not run: {line['error']}", file=sys.stderr)
        return None
    missing = [name for name in required if name not in line]
    if missing:
        raise ValueError(f"{where}: lacks {', '.join(missing)}")
    return line


def check_kinds(lines):
    """Every line is of a graph or of clusters."""
    for line in lines:
        kind = OF_CLUSTERS if line.get("index_kind") == "cluster" else OF_GRAPH
        missing = [name for name in kind if name not in line]
        if missing:
            raise ValueError(f"a line of {line['layout']} lacks {', '.join(missing)}")


def dataset_name(line):
    return pathlib.PurePath(str(line["dataset"])).name or "dataset"


def series_of(lines):
    """One series per tier, layout, slots, threads, cache and deduplication; its points are the list
    lengths and widths, or the clusters probed, of which only those are kept that no other point
    beats in both recall and rate."""
    groups = collections.defaultdict(list)
    for line in lines:
        key = (line["tier"], line["layout"], line["slots"], line["threads"],
               line.get("cache_bytes", 0), line.get("dedup", True))
        groups[key].append(line)
    return dict(sorted(groups.items(), key=lambda item: tuple(map(str, item[0]))))


def frontier(lines, metric, larger_is_better):
    sign = -1 if larger_is_better else 1
    ordered = sorted(lines, key=lambda line: (-line["recall"], sign * line[metric]))
    kept, best = [], None
    for line in ordered:
        value = sign * line[metric]
        if best is None or value < best:
            kept.append(line)
            best = value
    return kept[::-1]


def label_of(key):
    tier, layout, slots, threads, cache_bytes, dedup = key
    parts = [str(tier), str(layout), f"{slots} slot{'s' if slots != 1 else ''}"]
    if threads != 1:
        parts.append(f"{threads} threads")
    if cache_bytes:
        parts.append(f"cache {cache_bytes / 2**20:.0f} MiB")
    if not dedup:
        parts.append("dedup off")
    return ", ".join(parts)


def styles_of(groups):
    """Colour by tier, marker by layout and slots, so that one tier's lines belong together."""
    tiers = list(dict.fromkeys(key[0] for key in groups))
    kinds = list(dict.fromkeys(key[1:] for key in groups))
    return {key: {"color": COLOURS[tiers.index(key[0]) % len(COLOURS)],
                  "marker": MARKERS[kinds.index(key[1:]) % len(MARKERS)],
                  "linestyle": "-" if key[2] != 1 else "--"} for key in groups}


def models_note(lines):
    """One line of text per modelled tier."""
    models = {str(line["tier"]): model_text(line.get("tier_model")) for line in lines}
    return "\n".join(f"{tier} is a model: {model}" for tier, model in sorted(models.items())
                     if model and tier.startswith("emulated"))


def model_text(model):
    if isinstance(model, dict):
        return ", ".join(f"{name} {value}" for name, value in model.items() if value)
    return str(model) if model else ""


def recall_figure(lines, metric, axis_label, path):
    figure, axes = pyplot.subplots(figsize=(8.4, 4.6), layout="constrained")
    groups = series_of(lines)
    for key, style in styles_of(groups).items():
        points = frontier(groups[key], metric, metric == "qps")
        axes.plot([point["recall"] for point in points], [point[metric] for point in points],
                  label=label_of(key), linewidth=1.4, markersize=5, **style)
        for point in points:
            if "probe" in point:
                axes.annotate(str(point["probe"]), (point["recall"], point[metric]), fontsize=6,
                              textcoords="offset points", xytext=(3, 3), color=style["color"])
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(f"recall@{lines[0]['k']}")
    axes.set_ylabel(axis_label)
    finish(figure, axes, lines, path)


def finish(figure, axes, lines, path):
    axes.set_title(title_of(lines[0]), fontsize=10)
    axes.grid(True, which="both", linewidth=0.4, alpha=0.4)
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    note = models_note(lines)
    if note:
        figure.supxlabel(note, fontsize=6.5, color="#555555")
    figure.savefig(path, dpi=200)
    pyplot.close(figure)


def title_of(line):
    facts = [str(line.get("metric", "")), str(line.get("dtype", ""))]
    if "degree" in line:
        facts.append(f"R={line['degree']}")
    if "replicas" in line:
        facts.append(f"{line['clusters']} clusters, R={line['replicas']}")
    if "code_bits" in line:
        facts.append(f"{line['code_bits']}-bit codes")
    return f"{dataset_name(line)}: " + ", ".join(fact for fact in facts if fact)


def size_figure(lines, path):
    """Bytes of the data, and per layout of the index and of the compute node's DRAM."""
    layouts = {str(line["layout"]): line for line in lines}
    figure, axes = pyplot.subplots(figsize=(5.4, 3.6), layout="constrained")
    names = ["data set", *layouts]
    mib = 2.0**20
    index = [lines[0]["dataset_bytes"] / mib, *(line["index_bytes"] / mib
                                                for line in layouts.values())]
    dram = [0, *(line["compute_dram_bytes"] / mib for line in layouts.values())]
    axes.bar(names, index, color=COLOURS[0], label="on the memory node", width=0.6)
    axes.bar(names, dram, bottom=index, color=COLOURS[1], label="compute node's DRAM", width=0.6)
    for place, line in enumerate(layouts.values(), start=1):
        ratio = line["index_bytes"] / line["dataset_bytes"]
        axes.text(place, (index[place] + dram[place]) * 1.01, f"{ratio:.2f} × data", ha="center",
                  va="bottom", fontsize=8)
    axes.set_ylabel("size (MiB)")
    axes.margins(y=0.12)
    axes.set_title(f"{dataset_name(lines[0])}: index size", fontsize=10)
    axes.legend(fontsize=8, frameon=False, loc="upper left")
    figure.savefig(path, dpi=200)
    pyplot.close(figure)


def draw(lines, folder):
    folder.mkdir(parents=True, exist_ok=True)
    by_dataset = collections.defaultdict(list)
    for line in lines:
        by_dataset[dataset_name(line)].append(line)
    paths = []
    for name, group in by_dataset.items():
        paths += [folder / f"{name}-{kind}.png" for kind in ("qps", "p99", "size")]
        recall_figure(group, "qps", "queries per second", paths[-3])
        recall_figure(group, "p99_us", "p99 latency (µs)", paths[-2])
        size_figure(group, paths[-1])
    return paths


def summary(lines, targets):
    """For every series, the fastest point that reaches each recall target."""
    rows = [("tier", "layout", "slots", "at least", "recall", "list/probe", "width", "QPS",
             "p99 us", "reads/query")]
    for key, group in series_of(lines).items():
        for target in targets:
            good = [line for line in group if line["recall"] >= target]
            if good:
                best = max(good, key=lambda line: line["qps"])
                layout = key[1] if key[-1] else f"{key[1]}, dedup off"
                rows.append((key[0], layout, key[2], f"{target:.2f}", f"{best['recall']:.4f}",
                             best.get("probe", best.get("list")), best.get("width", "-"),
                             f"{best['qps']:,.0f}",
                             f"{best['p99_us']:,.0f}", f"{best.get('reads_per_query', 0):.1f}"))
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(str(cell).rjust(width) if column > 1 else str(cell).ljust(width)
                               for column, (cell, width) in enumerate(zip(row, widths)))
                     for row in rows)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="JSON lines of `farvec sweep`")
    parser.add_argument("--out", default=".", type=pathlib.Path, help="folder for the figures")
    parser.add_argument("--summary", action="store_true", help="also print a table")
    parser.add_argument("--recalls", default="0.90,0.95,0.99", help="recall targets of the table")
    options = parser.parse_args(arguments)
    try:
        lines = read_lines(options.files)
        check_kinds(lines)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for path in draw(lines, options.out):
        print(path)
    if options.summary:
        print(summary(lines, [float(target) for target in options.recalls.split(",")]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
