"""The table and the JSON lines of rdma_perftest.sh.

    rdma_perftest_table.py BENCH PERFTEST OUT

BENCH has the JSON lines of `farvec bench transport`, PERFTEST a line of NAME, PAYLOAD, READS_PER_S
(tabs between) per measurement; the n-th of each name and payload is from round n. A ratio is taken
within each round; medians, with the smallest and the largest in brackets. ib_read_lat has one read
outstanding: its latency is the inverse of its rate.
"""
import collections
import json
import statistics
import sys

LATENCY = "ib_read_lat"


def read_bench(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def read_samples(bench, perftest_path):
    """Rates of every round by payload, program, and the name of what it is compared with."""
    samples = collections.defaultdict(list)
    with open(perftest_path) as lines:
        for line in lines:
            name, payload, rate = line.rstrip("\n").split("\t")
            samples[int(payload), name, name].append(float(rate))
    for row in bench:
        if row["inflight"] == 1:
            samples[row["payload"], LATENCY, "farvec --inflight 1"].append(row["reads_per_s"])
            continue
        base = "ib_read_bw" if row["batch"] == 1 else f"ib_read_bw -l {row['batch']}"
        name = "farvec --batch {batch} --signal {signal} --doorbell {doorbell}".format(**row)
        samples[row["payload"], base, name].append(row["reads_per_s"])
    return dict(sorted(samples.items(), key=lambda item: item[0][:2]))


def spread(values, form):
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def print_table(rows):
    print("| bytes | program | reads/s | beside | ratio in the same round |\n|---|---|---|---|---|")
    for row in rows:
        print("| {payload} | `{program}` | {0} | `{beside}` | {1} |".format(
            spread(row["reads_per_s"], ",.0f"), spread(row["ratios"], ".2f"), **row))


def main(bench_path, perftest_path, out_path):
    bench = read_bench(bench_path)
    samples = read_samples(bench, perftest_path)
    shared = {key: bench[0][key] for key in ("tier_model", "inflight", "host", "commit")}
    rows = []
    for (payload, base, name), rates in samples.items():
        ratios = [rate / other for rate, other in zip(rates, samples[payload, base, base])]
        rows.append({"payload": payload, "program": name, "beside": base, "reads_per_s": rates,
                     "ratios": ratios, **shared})
    print("{tier_model}, {inflight} in flight, {host}, commit {commit}\n".format(**shared))
    print_table(rows)
    with open(out_path, "w") as out:
        for row in rows:
            out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
