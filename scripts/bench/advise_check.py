#!/usr/bin/python3
"""Compares what `farvec advise` predicts with what whole indexes do.

Asks for an advice for all devices, builds the whole indexes of the advised setting and of the next
best ones of each kind, finds on the first half of the queries the list or number of clusters that
reaches the recall, and measures on the second half: rounds of all indexes in turn, one thread.
Prints predicted beside measured, the error, and the rate of the choice over the best measured.
Advice and sweeps read the same clock, that of the searching thread: "us" is processor time per
query, which other work on the machine shifts less than the rate.

Example:
    scripts/bench/advise_check.py --bin build/release/bin --data sift1m/base.u8bin \\
        --queries sift1m/query.u8bin --groundtruth sift1m/gt100.ibin --work /tmp/check \\
        --json check.jsonl

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
    parser.add_argument("--best", type=int, default=2,
                        help="settings of each kind of index that are built beside the choice")
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


def file_name(setting):
    return setting["index"].replace(",", "").replace(" ", "-")


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

    def wanted(self, advices):
        """Settings to build, by name."""
        wanted = {}
        for advice in advices.values():
            settings = [setting for setting in advice["settings"] if setting["reached"]]
            for kind in ("graph", "cluster"):
                of_kind = [setting for setting in settings if setting["index_kind"] == kind]
                for setting in of_kind[:self.arguments.best]:
                    wanted[file_name(setting)] = setting
            wanted[file_name(advice["choice"])] = advice["choice"]
        return wanted

    def build(self, setting):
        out = self.arguments.work / file_name(setting)
        if not out.exists():
            command = shlex.split(setting["build"])
            run([self.farvec, *command[1:], "--quiet", "--out", out])
        return out

    def sweep(self, index, option, numbers, *options):
        out = self.arguments.work / "sweep.jsonl"
        width = ["--width", options[0]] if option == "--list" else []
        run([self.farvec, "sweep", "--index", index, "--queries", self.arguments.queries,
             "--groundtruth", self.arguments.groundtruth, "--k", 10, option,
             ",".join(map(str, numbers)), *width, *options[1:], "--json", out])
        return sweeps.read_rows(out)

    def find_parameter(self, index, setting):
        """The least list or number of clusters that has the recall on the first half."""
        option, name = (("--list", "list") if setting["index_kind"] == "graph"
                        else ("--probe", "probe"))
        least = 10 if name == "list" else 1
        low, high = least, max(2 * setting[name], least + 1)
        while True:
            step = max((high - low) // 8, 1)
            rows = self.sweep(index, option, range(low, high + 1, step), setting.get("width", 1),
                              "--tier", "dram", "--passes", 1, "--pass-ms", 1, "--queries-range",
                              f":{self.half}")
            good = [row[name] for row in rows if row["recall"] >= self.arguments.recall]
            if not good:
                low, high = high, 2 * high
                if high > 4000:
                    raise SystemExit(f"{index}: recall {self.arguments.recall} is out of reach")
            elif step == 1:
                return option, min(good)
            else:
                low, high = max(min(good) - step, least), min(good)

    def measure(self, advices, indexes):
        """{(index, device): rows of sweep}, all indexes in turn."""
        tiers = ",".join(f"emulated:{device}" for device in advices)
        found = {}
        for turn in range(self.arguments.rounds):
            for name, (path, setting, option, number) in indexes.items():
                slots = sorted({self.slots(advice, name) for advice in advices.values()})
                print(f"round {turn + 1}: {name}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
                rows = self.sweep(path, option, [number], setting.get("width", 1), "--tier", tiers,
                                  "--slots", ",".join(map(str, slots)), "--passes",
                                  self.arguments.passes, "--pass-ms", self.arguments.pass_ms,
                                  "--queries-range", f"{self.half}:")
                for row in rows:
                    device = row["tier"].removeprefix("emulated:")
                    if row["slots"] == self.slots(advices[device], name):
                        found.setdefault((name, device), []).append(row)
        return found

    @staticmethod
    def find(advice, name):
        return next(setting for setting in advice["settings"] if file_name(setting) == name)

    def slots(self, advice, name):
        return self.find(advice, name).get("slots", 16)

    def compare(self, device, advice, measured):
        """One line per index that was built for the device, fastest first."""
        lines = []
        for (name, of_device), rows in measured.items():
            if of_device != device:
                continue
            setting = self.find(advice, name)
            qps = statistics.median(row["qps"] for row in rows)
            lines.append({
                "dataset": rows[0]["dataset"], "device": device, "index": setting["index"],
                "recall": rows[0]["recall"],
                "parameter": rows[0].get("list", rows[0].get("probe")),
                "predicted_parameter": setting.get("list", setting.get("probe")),
                "slots": rows[0]["slots"], "bound": setting["bound"],
                "predicted_qps": setting["qps"], "qps": qps,
                "qps_min": min(row["qps_min"] for row in rows),
                "qps_max": max(row["qps_max"] for row in rows),
                "error": setting["qps"] / qps - 1,
                "predicted_us": setting["computation_ns_per_query"] / 1e3,
                "us": statistics.median(row["processor_us"] for row in rows),
                "predicted_reads": setting["reads_per_query"],
                "reads": rows[0]["reads_per_query"],
                "predicted_bytes": setting["bytes_per_query"],
                "bytes": rows[0]["bytes_per_query"],
                "predicted_amplification": setting["amplification"],
                "amplification": rows[0]["amplification"],
                "chosen": setting["index"] == advice["choice"]["index"],
                "commit": rows[0]["commit"], "host": rows[0]["host"]})
        return sorted(lines, key=lambda line: -line["qps"])

    def report(self, device, lines):
        print(f"\n{lines[0]['dataset']}, emulated:{device}, recall {self.arguments.recall}\n")
        print("| index | L or probe, predicted | measured | recall | reads, predicted | measured "
              "| KB, predicted | measured | us, predicted | measured | QPS, predicted | measured "
              "| error | x data, predicted | measured |\n|" + "---|" * 15)
        for line in lines:
            mark = " (choice)" if line["chosen"] else ""
            print(f"| {line['index']}{mark} | {line['predicted_parameter']} | {line['parameter']} "
                  f"| {line['recall']:.4f} | {line['predicted_reads']:.1f} | {line['reads']:.1f} "
                  f"| {line['predicted_bytes'] / 1e3:.1f} | {line['bytes'] / 1e3:.1f} "
                  f"| {line['predicted_us']:.1f} | {line['us']:.1f} "
                  f"| {line['predicted_qps']:,.0f} | {line['qps']:,.0f} ({line['qps_min']:,.0f} to "
                  f"{line['qps_max']:,.0f}) | {line['error']:+.0%} "
                  f"| {line['predicted_amplification']:.2f} | {line['amplification']:.2f} |")
        choice = next(line for line in lines if line["chosen"])
        share = choice["qps"] / lines[0]["qps"]
        print(f"\nThe choice has {share:.2f} of the best measured rate: "
              f"{'within' if share >= 0.85 else 'NOT within'} 15%.")

    def run(self):
        devices = self.arguments.devices.split(",")
        advices = self.advise(devices)
        indexes = {}
        for name, setting in self.wanted(advices).items():
            path = self.build(setting)
            indexes[name] = (path, setting, *self.find_parameter(path, setting))
        measured = self.measure(advices, indexes)
        text = ""
        for device, advice in advices.items():
            lines = self.compare(device, advice, measured)
            self.report(device, lines)
            text += "".join(json.dumps(line) + "\n" for line in lines)
        if self.arguments.json:
            self.arguments.json.write_text(text)


if __name__ == "__main__":
    Check(parse_arguments()).run()
