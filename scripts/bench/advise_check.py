#!/usr/bin/python3
"""Compares what `farvec advise` predicts with what whole indexes do.

Asks for an advice for all devices, builds the whole index of every setting that was compared (or of
the best ones of each layout, --best), finds on the first half of the queries the list or number of
clusters that reaches the recall, and measures on the second half: rounds of all indexes in turn, one
thread. For every row on every device it prints predicted, measured and their ratio, and at the end
how many rates were predicted within a fifth. Advice and sweeps read the same clock, that of the
searching thread: "us" is processor time per query, which other work on the machine shifts less than
the rate; rates are worth something on a quiet machine only. (On a disk a thread that waits spins:
there is no "us" to compare.)

A model is swept as emulated:NAME. ssd:FOLDER is a disk of this machine: the work folder has to lie on
it, for the indexes are swept where they are built. Slotted pages on a model are predicted alone.

Example:
    scripts/bench/advise_check.py --bin build/release/bin --data sift1m/base.u8bin \\
        --queries sift1m/query.u8bin --groundtruth sift1m/gt100.ibin --work /data/check \\
        --devices rdma,cxl,nvm,ssd:/data --json check.jsonl

Indexes and advices that are already in the work folder are used again.
"""
import argparse
import json
import os
import pathlib
import shlex
import statistics
import sys

import numpy as np

import sweeps

# What a prediction may be off by.
WITHIN = 0.2
LONGEST = 4000


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of farvec")
    parser.add_argument("--data", required=True)
    parser.add_argument("--queries", required=True)
    parser.add_argument("--groundtruth", required=True)
    parser.add_argument("--metric", default="l2")
    parser.add_argument("--recall", type=float, default=0.95)
    parser.add_argument("--devices", default="rdma,cxl,nvm")
    parser.add_argument("--best", type=int, default=0,
                        help="build only so many settings of each layout, and the choices [all]")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for indexes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--passes", type=int, default=3, help="of one round")
    parser.add_argument("--pass-ms", type=int, default=300)
    parser.add_argument("--advise", default="", help="further options of farvec advise")
    parser.add_argument("--json", type=pathlib.Path, help="file for one object per comparison")
    return parser.parse_args()


def run(command):
    print("+ " + shlex.join(map(str, command)), file=sys.stderr)
    sweeps.run(command)


def index_name(setting):
    """Of the folder; budgets of memory share an index."""
    words = setting["index"].split(", ")
    return "-".join(word for word in words if not word.endswith("in memory")).replace(" ", "-")


def tier_of(device):
    return "ssd" if device.startswith("ssd:") else f"emulated:{device}"


class Check:
    def __init__(self, arguments):
        self.arguments = arguments
        self.farvec = arguments.bin / "farvec"
        arguments.work.mkdir(parents=True, exist_ok=True)
        queries = np.fromfile(arguments.groundtruth, dtype="<u4", count=1)[0]
        self.half = int(queries) // 2

    def advise(self, devices):
        """{device: advice}"""
        out = self.arguments.work / "advice.jsonl"
        if not out.exists():
            run([self.farvec, "advise", "--data", self.arguments.data, "--queries",
                 self.arguments.queries, "--queries-range", f":{self.half}", "--metric",
                 self.arguments.metric, "--recall", self.arguments.recall, "--json", out,
                 *(word for device in devices for word in ("--device", device)),
                 *shlex.split(self.arguments.advise)])
        return dict(zip(devices, sweeps.read_rows(out)))

    def wanted(self, device, advice):
        """Settings that are measured on the device."""
        left = {}
        wanted = []
        for setting in advice["settings"]:  # the fastest first
            if not setting["reached"]:
                continue
            if setting["layout"] == "slotted" and tier_of(device) != "ssd":
                continue
            left.setdefault(setting["layout"], self.arguments.best or len(advice["settings"]))
            left[setting["layout"]] -= 1
            chosen = setting["index"] == (advice["choice"] or {}).get("index")
            if left[setting["layout"]] >= 0 or chosen:
                wanted.append(setting)
        return wanted

    def build(self, setting):
        out = self.arguments.work / index_name(setting)
        if not out.exists():
            command = shlex.split(setting["build"])
            run([self.farvec, *command[1:], "--quiet", "--out", out])
        return out

    def sweep(self, setting, numbers, *options):
        out = self.arguments.work / "sweep.jsonl"
        run([self.farvec, "sweep", "--index", self.build(setting), "--queries",
             self.arguments.queries, "--groundtruth", self.arguments.groundtruth, "--k", 10,
             "--list" if "list" in setting else "--probe", ",".join(map(str, numbers)),
             *shlex.split(setting["search"]), *options, "--json", out, "--overwrite"])
        return sweeps.read_rows(out)

    def find_number(self, setting):
        """The least list or number of clusters that has the recall on the first half."""
        name = "list" if "list" in setting else "probe"
        tier = "ssd" if setting["layout"] == "slotted" else "dram"
        low, high = (9, 10) if name == "list" else (0, 1)

        def reaches(number):
            row, = self.sweep(setting, [number], "--tier", tier, "--slots", setting["slots"], "--passes", 1,
                              "--pass-ms", 1, "--queries-range", f":{self.half}")
            return row["recall"] >= self.arguments.recall

        if reaches(high):
            return high
        number = sweeps.least(reaches, low, max(setting[name], high + 1), LONGEST)
        if number is None:
            raise SystemExit(f"{setting['index']}: recall {self.arguments.recall} is out of reach")
        return number

    def measure(self, wanted):
        """{(device, index): rows of sweep}, all indexes in turn."""
        numbers = {}
        found = {}
        for turn in range(self.arguments.rounds):
            for device, settings in wanted.items():
                for setting in settings:
                    name = setting["index"]
                    if name not in numbers:
                        numbers[name] = self.find_number(setting)
                    print(f"round {turn + 1}: {device}, {name}, load {os.getloadavg()[0]:.1f}",
                          file=sys.stderr)
                    found.setdefault((device, name), []).extend(self.sweep(
                        setting, [numbers[name]], "--tier", tier_of(device), "--slots",
                        setting["slots"], "--passes", self.arguments.passes, "--pass-ms",
                        self.arguments.pass_ms, "--queries-range", f"{self.half}:"))
        return found

    @staticmethod
    def compare(device, advice, setting, rows):
        """The JSON object of one row: of each figure predicted, measured and their ratio."""
        name = "list" if "list" in setting else "probe"
        middle = lambda field: statistics.median(row[field] for row in rows)  # noqa: E731
        figures = {
            name: (setting[name], rows[0][name]),
            "reads": (setting["reads_per_query"], rows[0]["reads_per_query"]),
            "bytes": (setting["bytes_per_query"], rows[0]["bytes_per_query"]),
            "amplification": (setting["amplification"], rows[0]["amplification"]),
            "compute_dram_bytes": (setting["compute_dram_bytes"],
                                   rows[0].get("memory_bytes") or rows[0]["compute_dram_bytes"]),
            "qps": (setting["qps"], middle("qps"))}
        if tier_of(device) != "ssd":
            figures["us"] = (setting["computation_ns_per_query"] / 1e3, middle("processor_us"))
        line = {"dataset": rows[0]["dataset"], "device": advice["device"],
                "device_kind": advice["device_kind"], "index": setting["index"],
                "layout": setting["layout"], "bound": setting["bound"], "slots": setting["slots"],
                "chosen": setting["index"] == (advice["choice"] or {}).get("index"),
                "recall": rows[0]["recall"], "core_share": advice["core_share"],
                "qps_min": min(row["qps_min"] for row in rows),
                "qps_max": max(row["qps_max"] for row in rows),
                "commit": rows[0]["commit"], "host": rows[0]["host"]}
        for figure, (predicted, measured) in figures.items():
            line[figure] = {"predicted": predicted, "measured": measured,
                            "ratio": predicted / measured if measured else None}
        return line

    def report(self, device, lines):
        kind = lines[0]["device_kind"]
        columns = [("L or probe", "{:.0f}", 1), ("reads", "{:.1f}", 1), ("KB", "{:.1f}", 1e3),
                   ("us", "{:.1f}", 1), ("QPS", "{:,.0f}", 1), ("x data", "{:.2f}", 1),
                   ("DRAM MB", "{:.1f}", 1e6)]
        print(f"\n{lines[0]['dataset']}, {lines[0]['device']} ({kind}), recall "
              f"{self.arguments.recall}; each predicted / measured = ratio\n")
        print("| index | recall | " + " | ".join(title for title, _, _ in columns) + " |\n|" +
              "---|" * (len(columns) + 2))
        for line in lines:
            cells = []
            for figure, (_, form, unit) in zip(
                    ("list" if "list" in line else "probe", "reads", "bytes", "us", "qps",
                     "amplification", "compute_dram_bytes"), columns):
                pair = line.get(figure)
                cells.append("-" if pair is None or pair["ratio"] is None else
                             f"{form.format(pair['predicted'] / unit)} / "
                             f"{form.format(pair['measured'] / unit)} = {pair['ratio']:.2f}")
            mark = " (choice)" if line["chosen"] else ""
            print(f"| {line['index']}{mark} | {line['recall']:.4f} | " + " | ".join(cells) + " |")
        ratios = [line["qps"]["ratio"] for line in lines]
        good = sum(1 / (1 + WITHIN) <= ratio <= 1 + WITHIN for ratio in ratios)
        print(f"\n{device}: {good} of {len(ratios)} rates within a fifth, ratios {min(ratios):.2f} "
              f"to {max(ratios):.2f}; while the advisor timed, searches had "
              f"{lines[0]['core_share']:.0%} of a core.")
        best = max(line["qps"]["measured"] for line in lines)
        for line in lines:
            if line["chosen"]:
                print(f"The choice has {line['qps']['measured'] / best:.2f} of the best measured.")

    def run(self):
        devices = self.arguments.devices.split(",")
        advices = self.advise(devices)
        wanted = {device: self.wanted(device, advice) for device, advice in advices.items()}
        found = self.measure(wanted)
        text = ""
        for device, settings in wanted.items():
            lines = [self.compare(device, advices[device], setting,
                                  found[device, setting["index"]]) for setting in settings]
            lines.sort(key=lambda line: -line["qps"]["measured"])
            if lines:
                self.report(device, lines)
            text += "".join(json.dumps(line) + "\n" for line in lines)
        if self.arguments.json:
            self.arguments.json.write_text(text)


if __name__ == "__main__":
    Check(parse_arguments()).run()
