#!/usr/bin/env python3
"""What a search costs from Python beside the tool, in turns: batches, and one query at a time.

    PYTHONPATH=build/release/python build/python-venv/bin/python bench/python/overhead.py \\
        --index INDEX --queries QUERIES --groundtruth TRUTH [--recall 0.95] [--rounds 7]

Prints a line of JSON for each of three comparisons:

    batches   the rate of index.search() in batches of 100, over that of `farvec search`
    single    microseconds of a call with one query, beside a search of the tool with one slot,
              which does nothing but search: the difference is the overhead of a call
    threads   the rate of two Python threads that search batches, over that of one

The list is the shortest that has the recall on the first half of the queries. Both sides search the
same queries, in turns, and the median of the rounds counts. Run it alone on the machine, on one
processor (taskset); `threads` wants two.
"""
import argparse
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import threading
import time

import farvec

BATCH = 100


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--index", required=True, help="directory of a graph")
    parser.add_argument("--queries", required=True)
    parser.add_argument("--groundtruth", required=True)
    parser.add_argument("--recall", type=float, default=0.95, help="to reach [0.95]")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each side [7]")
    parser.add_argument("--slots", type=int, default=16, help="searches in flight [16]")
    parser.add_argument("--only", choices=["batches", "single", "threads"])
    parser.add_argument("--tool", default="build/release/bin/farvec", type=pathlib.Path)
    return parser.parse_args()


def shortest_list(index, queries, truth, recall):
    half = len(queries) // 2
    for size in range(10, 1000):
        found = index.search(queries[:half], k=10, list=size)
        if farvec.recall(found.ids, truth[0][:half], 10, distances=found.distances,
                         true_distances=truth[1][:half]) >= recall:
            return size
    raise SystemExit(f"no list up to 1000 reaches recall {recall}")


def tool_rate(options, size, slots):
    """Queries per second as the tool prints them: its searches alone, without loading."""
    printed = subprocess.run(
        [options.tool, "search", "--index", options.index, "--queries", options.queries, "--k",
         "10", "--list", str(size), "--slots", str(slots), "--threads", "1", "--json"],
        check=True, capture_output=True, text=True, timeout=300).stdout
    return json.loads(printed.splitlines()[-1])["qps"]


def batch_rate(index, queries, size):
    start = time.perf_counter()
    for begin in range(0, len(queries), BATCH):
        index.search(queries[begin:begin + BATCH], k=10, list=size)
    return len(queries) / (time.perf_counter() - start)


def single_rate(index, queries, size):
    rows = list(queries)
    start = time.perf_counter()
    for row in rows:
        index.search(row, k=10, list=size)
    return len(rows) / (time.perf_counter() - start)


def threads_rate(index, queries, size, count):
    parts = [queries[i::count].copy() for i in range(count)]
    ready, failed = threading.Barrier(count + 1), []

    def work(part, processor):
        os.sched_setaffinity(0, {processor})  # of this thread, as the tool pins its own
        ready.wait()
        try:
            batch_rate(index, part, size)
        except Exception as error:  # pragma: no cover
            failed.append(error)

    processors = itertools.cycle(sorted(os.sched_getaffinity(0)))
    workers = [threading.Thread(target=work, args=pair) for pair in zip(parts, processors)]
    for worker in workers:
        worker.start()
    ready.wait()
    start = time.perf_counter()
    for worker in workers:
        worker.join()
    assert not failed, failed
    return len(queries) / (time.perf_counter() - start)


def turns(rounds, sides):
    """{name: rates} of functions that are called in turn, once more first to warm up."""
    rates = {name: [] for name in sides}
    for turn in range(rounds + 1):
        for name, side in sides.items():
            rate = side()
            if turn > 0:
                rates[name].append(rate)
    return rates


def summary(rates):
    return {name: {"median": statistics.median(values), "least": min(values), "most": max(values)}
            for name, values in rates.items()}


def main():
    options = arguments()
    queries = farvec.read_vectors(options.queries, mmap=False)
    truth = farvec.read_ground_truth(options.groundtruth)
    context = {"index": options.index, "processors": len(os.sched_getaffinity(0)),
               "commit": farvec.__commit__}
    with farvec.open(options.index, slots=options.slots, concurrency=2) as index:
        size = shortest_list(index, queries, truth, options.recall)
        found = index.search(queries, k=10, list=size)
        context |= {"list": size, "slots": options.slots, "tier": "dram",
                    "recall": farvec.recall(found.ids, truth[0], 10, distances=found.distances,
                                            true_distances=truth[1])}
        comparisons = {
            "batches": {"python": lambda: batch_rate(index, queries, size),
                        "tool": lambda: tool_rate(options, size, options.slots)},
            "single": {"python": lambda: single_rate(index, queries, size),
                       "tool": lambda: tool_rate(options, size, 1)},
            "threads": {"one": lambda: threads_rate(index, queries, size, 1),
                        "two": lambda: threads_rate(index, queries, size, 2)},
        }
        for name, sides in comparisons.items():
            if options.only not in (None, name):
                continue
            rates = turns(options.rounds, sides)
            line = {"comparison": name, **context, "qps": summary(rates)}
            medians = {side: statistics.median(values) for side, values in rates.items()}
            if name == "batches":
                line["ratio"] = medians["python"] / medians["tool"]
            elif name == "single":
                line["overhead_us"] = 1e6 / medians["python"] - 1e6 / medians["tool"]
            else:
                line["ratio"] = medians["two"] / medians["one"]
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
