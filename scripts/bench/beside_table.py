"""The table and the JSON lines of rdma_perftest.sh and fabric_rma.sh.

    beside_table.py BENCH OTHERS OUT --latency NAME --batch NAME

BENCH has the JSON lines of `farvec bench transport`, OTHERS a line of NAME, BESIDE, PAYLOAD, RATE
(tabs between) per measurement of another program; the n-th of each name and payload is from round
n. --latency names what farvec's rows with one read in flight are compared with, --batch that of the
others, with {batch} in it. A ratio is taken within each round; medians, with the smallest and the
largest in brackets. With one read outstanding, the latency is the inverse of the rate.
"""
import argparse
import collections
import json

from sweeps import spread


def parse():
    parser = argparse.ArgumentParser()
    for name in ("bench", "others", "out", "--latency", "--batch"):
        parser.add_argument(name)
    return parser.parse_args()


def farvec_name(row):
    if row["inflight"] == 1:
        return "farvec --inflight 1"
    name = "farvec --batch {batch}".format(**row)
    return name + (" --signal {signal} --doorbell {doorbell}".format(**row) if "signal" in row
                   else "")


def read_samples(bench, options):
    """Rates of every round by payload, the name of what it is compared with, and program."""
    samples = collections.defaultdict(list)
    with open(options.others) as lines:
        for line in lines:
            name, beside, payload, rate = line.rstrip("\n").split("\t")
            samples[int(payload), beside, name].append(float(rate))
    for row in bench:
        beside = options.latency if row["inflight"] == 1 else options.batch.format(**row)
        samples[row["payload"], beside, farvec_name(row)].append(row["reads_per_s"])
    return dict(sorted(samples.items(), key=lambda item: item[0][:2]))


def print_table(rows):
    print("| bytes | program | reads/s | beside | ratio in the same round |\n|---|---|---|---|---|")
    for row in rows:
        print("| {payload} | `{program}` | {0} | `{beside}` | {1} |".format(
            spread(row["reads_per_s"], ",.0f"), spread(row["ratios"], ".2f"), **row))


def main(options):
    with open(options.bench) as lines:
        bench = [json.loads(line) for line in lines]
    samples = read_samples(bench, options)
    shared = {key: bench[0][key] for key in ("tier_model", "inflight", "host", "commit")}
    rows = []
    for (payload, base, name), rates in samples.items():
        ratios = [rate / other for rate, other in zip(rates, samples[payload, base, base])]
        rows.append({"payload": payload, "program": name, "beside": base, "reads_per_s": rates,
                     "ratios": ratios, **shared})
    print("{tier_model}, {inflight} in flight, {host}, commit {commit}\n".format(**shared))
    print_table(rows)
    with open(options.out, "w") as out:
        for row in rows:
            out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(parse())
