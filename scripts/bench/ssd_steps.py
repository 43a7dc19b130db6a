#!/usr/bin/python3
"""What each part of the search from SSD is worth: from a synchronous beam search to the whole.

Chooses on the first half of the queries the shortest list that reaches a recall with each way to
search, and measures the second half in rounds in which every step takes its turn. Every measurement
begins with an empty pool, which the first half of the queries fills. Prints tables in Markdown (the
VeloANN paper, Figure 14). Run it on a quiet machine, with the index on the disk in question.

Example:
    scripts/bench/ssd_steps.py --index sift1m.slotted --queries query.u8bin --groundtruth gt.ibin \\
        --budget 20%,50% --recall 0.9,0.95 --json steps.jsonl
"""
import argparse
import json
import pathlib
import statistics
import sys

from sweeps import Sweeps, read_rows, spread

WIDTH = 4
LISTS = (10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 33, 36, 40, 44, 48, 52, 56, 60, 66, 72, 80, 90, 100,
         120, 140, 160, 200)


# Searches in flight (None: --slots), width, search, pool, prefetch, page search. Without prefetches
# fewer pages are read, and single queries wait longer.
STEPS = {
    "synchronous": (1, WIDTH, "beam", "page", "off", "off"),
    "+ coroutines": (None, WIDTH, "beam", "page", "off", "off"),
    "+ record pool": (None, WIDTH, "beam", "record", "off", "off"),
    "+ prefetch": (None, WIDTH, "beam", "record", "on", "off"),
    "+ cache-aware": (None, WIDTH, "cache-aware", "record", "on", "off"),
    "+ page search": (None, WIDTH, "cache-aware", "record", "on", "on"),
    "best-first, page search": (None, WIDTH, "best-first", "record", "off", "on"),
    "best-first, page search, page pool": (None, WIDTH, "best-first", "page", "off", "on"),
    "cache-aware, page search, synchronous": (1, WIDTH, "cache-aware", "record", "on", "on"),
    "the same, width 8": (1, 2 * WIDTH, "cache-aware", "record", "on", "on"),
}
# DiskANN's way: a beam over nodes padded to blocks, one query at a time; and several.
PADDED_STEPS = {
    "padded nodes, beam, synchronous": 1,
    "padded nodes, beam, coroutines": None,
}


def index_of(step, arguments):
    return arguments.padded if step in PADDED_STEPS else arguments.index


def options_of(step, arguments):
    if step in PADDED_STEPS:
        return ["--slots", PADDED_STEPS[step] or arguments.slots, "--width", WIDTH,
                "--tier", arguments.padded_tier]
    slots, width, search, pool, prefetch, page_search = STEPS[step]
    return ["--slots", slots or arguments.slots, "--width", width, "--search", search, "--pool",
            pool, "--prefetch", prefetch, "--page-search", page_search, "--tier", arguments.tier]


def choose_list(sweeps, arguments, step, recall):
    for some in (LISTS[at:at + 4] for at in range(0, len(LISTS), 4)):
        rows = sweeps.rows(index_of(step, arguments), sweeps.first_half,
                           [*options_of(step, arguments)[2:], "--slots", arguments.slots, "--list",
                            ",".join(map(str, some)), "--passes", 1])
        for row in rows:
            if row["recall"] >= recall:
                return row["list"]
    raise SystemExit(f"error: no list up to {LISTS[-1]} has recall {recall} with {step}")


def choose_lists(sweeps, arguments, recall):
    """{step: L}; steps that find the same share a choice."""
    chosen, lists = {}, {}
    for step in [*STEPS, *(PADDED_STEPS if arguments.padded else [])]:
        way = "padded" if step in PADDED_STEPS else (*STEPS[step][1:3], STEPS[step][-1])
        if way not in chosen:
            chosen[way] = choose_list(sweeps, arguments, step, recall)
        lists[step] = chosen[way]
    return lists


def measure(arguments):
    sweeps = Sweeps(arguments.farvec, arguments.queries, arguments.groundtruth)
    rows = []
    for recall in arguments.recall:
        lists = choose_lists(sweeps, arguments, recall)
        print(f"recall {recall}: {lists}", file=sys.stderr)
        for number in range(arguments.rounds):
            print(f"recall {recall}, round {number + 1} of {arguments.rounds}", file=sys.stderr)
            for budget in arguments.budget:
                for threads in arguments.threads:
                    for step, length in lists.items():
                        (row,) = sweeps.rows(
                            index_of(step, arguments), sweeps.second_half,
                            [*options_of(step, arguments), "--list", length, "--memory-budget",
                             budget, "--passes", 1], threads)
                        rows.append({**row, "step": step, "wanted": recall, "budget": budget,
                                     "round": number})
    return rows


def table(rows):
    """Markdown: a line per step. Ratios are of the same round."""
    yield ("| step | L | recall | reads | hit | QPS | over the first | slots | mean us | p50 us "
           "| p99 us |")
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    first = {row["round"]: row["qps"] for row in rows if row["step"] == next(iter(STEPS))}
    for step in [*STEPS, *PADDED_STEPS]:
        own = [row for row in rows if row["step"] == step]
        if not own:
            continue
        ratios = [row["qps"] / first[row["round"]] for row in own]
        middle = {name: statistics.median(row.get(name, 0) for row in own)
                  for name in ("recall", "io_reads_per_query", "pool_hit_rate", "slots", "mean_us",
                               "p50_us", "p99_us")}
        yield (f"| {step} | {own[0]['list']} | {middle['recall']:.4f} "
               f"| {middle['io_reads_per_query']:.1f} | {100 * middle['pool_hit_rate']:.0f}% "
               f"| {spread([row['qps'] for row in own])} | {statistics.median(ratios):.2f} "
               f"({min(ratios):.2f} to {max(ratios):.2f}) | {middle['slots']:.0f} "
               f"| {middle['mean_us']:,.0f} | {middle['p50_us']:,.0f} | {middle['p99_us']:,.0f} |")


def tables(rows):
    groups = {}
    for row in rows:
        key = (row["dataset"], row["wanted"], row["threads"], row["budget"])
        groups.setdefault(key, []).append(row)
    for (dataset, recall, threads, budget), group in sorted(groups.items(), key=str):
        memory = max(row["memory_bytes"] for row in group)
        share = memory / next(r["index_bytes"] for r in group if r["layout"] == "slotted")
        print(f"\n#### {dataset}, recall {recall}, {threads} thread{'s' * (threads > 1)}, budget "
              f"{budget}: {memory:,} bytes, {100 * share:.0f}% of the records\n")
        print("\n".join(table(group)))


def numbers(kind):
    return lambda text: [kind(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=pathlib.Path, help="slotted index")
    parser.add_argument("--queries", type=pathlib.Path)
    parser.add_argument("--groundtruth", type=pathlib.Path)
    parser.add_argument("--budget", type=numbers(str), default=["10%", "20%", "50%"],
                        help="bytes or shares of the index [10%%,20%%,50%%]")
    parser.add_argument("--recall", type=numbers(float), default=[0.9, 0.95])
    parser.add_argument("--threads", type=numbers(int), default=[1])
    parser.add_argument("--slots", default="auto", help="searches in flight of all but the "
                        "synchronous steps [auto]")
    parser.add_argument("--tier", default="ssd", help="ssd[:PATH]")
    parser.add_argument("--padded", type=pathlib.Path, help="the same graph in layout padded, for the "
                        "steps of DiskANN's way")
    parser.add_argument("--padded-tier", default="ssd", help="ssd[:PATH]")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--farvec", default="build/release/bin/farvec")
    parser.add_argument("--json", type=pathlib.Path, help="write a line per measurement")
    parser.add_argument("--from", dest="source", type=pathlib.Path, help="print what --json wrote")
    arguments = parser.parse_args()
    if arguments.source:
        return tables(read_rows(arguments.source))
    for name in ("index", "queries", "groundtruth"):
        if getattr(arguments, name) is None:
            parser.error(f"--{name} is needed, or --from")
    rows = measure(arguments)
    if arguments.json:
        arguments.json.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tables(rows)


if __name__ == "__main__":
    sys.exit(main())
