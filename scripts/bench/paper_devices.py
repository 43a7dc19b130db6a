#!/usr/bin/python3
"""The modelled devices beside figures 6 and 7 of the second-tier memory study.

    scripts/bench/paper_devices.py build/release/bin models.jsonl [--pass-ms 500] [--passes 5]
    scripts/bench/paper_devices.py --show models.jsonl

Runs `farvec bench transport` on every preset: payloads alone (figure 6), and reads of 4 KB of which
a share has 128 B (figure 7). A thread has a small part of each device (one of PART), so that neither
it nor the latency binds, nor what else the machine does meanwhile; rates are multiplied by that. `ssd,rate=1.7M/s` is what the figures alone
would make of the SSD, where the preset follows equation 2. Prints tables: what the model allows,
which is exact, what was measured, and the paper's points, from paper_devices.json.
"""
import argparse
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
TENTH = 0.1
PAYLOADS = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]
LARGE = 4096
SHARES = [0] + [tenths / 10 for tenths in range(1, 11)]
PART = {"rdma": 2048, "cxl": 4096, "nvm": 4096, "ssd": 192, "ssd,rate=1.7M/s": 192}
INFLIGHT = 1024


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="+", help="the folder of farvec, and a file to write; "
                        "with --show the file alone")
    parser.add_argument("--pass-ms", default="500")
    parser.add_argument("--passes", default="5")
    parser.add_argument("--show", action="store_true")
    return parser.parse_args()


def tier_of(device):
    return f"emulated:{device},cores={PART[device]}"


def run(farvec, out, options):
    """Every device in turn, pass by pass; shares apart, or the small reads of one would interrupt
    the large ones of the next."""
    tiers = ",".join(tier_of(device) for device in PART)
    lines = []
    for payloads, share in ((PAYLOADS, 0), *(([LARGE], share) for share in SHARES[1:])):
        subprocess.run([farvec, "bench", "transport", "--tier", tiers, "--payload",
                        ",".join(map(str, payloads)), "--mix", f"{round(100 * share)}%",
                        "--inflight", str(INFLIGHT), "--pass-ms", options.pass_ms, "--passes",
                        options.passes, "--json", out], check=True, stdout=subprocess.DEVNULL)
        lines += pathlib.Path(out).read_text().splitlines()
    pathlib.Path(out).write_text("\n".join(lines) + "\n")


def device_of(row):
    """Rows name the values of a tier that is no preset; this bench has one."""
    name = row["tier"].removeprefix("emulated:").split(",cores=")[0]
    return name if name in PART else "ssd,rate=1.7M/s"


class Points:
    """Bytes a nanosecond of whole devices, as the model allows them and as they were measured."""

    def __init__(self, rows):
        self.allowed, self.measured = {}, {}
        for row in rows:
            key = device_of(row), row["payload"], row["mix"]
            mean_bytes = row["mix"] * 128 + (1 - row["mix"]) * row["payload"]
            part = PART[key[0]]
            self.allowed[key] = row["device_bound_per_s"] * mean_bytes * part / 1e9
            self.measured[key] = row["gb_per_s"] * part

    @staticmethod
    def lost(values, device, share):
        return 100 * (1 - values[device, LARGE, share] / values[device, LARGE, 0])

    @staticmethod
    def saturating(values, device, limit):
        return next((payload for payload in PAYLOADS
                     if values[device, payload, 0] >= (1 - TENTH) * limit), None)


def table(header, rows):
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def compare(name, ours, papers):
    near = abs(ours - papers) <= TENTH * papers
    return [name, f"{papers:g}", f"{ours:.1f}", "yes" if near else f"**{ours / papers - 1:+.0%}**"]


def show(rows, paper):
    points = Points(rows)
    both = (points.allowed, points.measured)
    print("Figure 6: GB/s of reads of one size; allowed (measured)\n")
    table(["bytes", *PART],
          [[str(size)] + ["{:.2f} ({:.2f})".format(
              *(values[device, size, 0] for values in both)) for device in PART]
           for size in PAYLOADS])
    limits = {device: paper["devices"][device.split(",")[0]]["gb_per_s"] for device in PART}
    bytes_of = paper["saturating_payload"]["bytes"]
    table(["least payload with nine tenths of the bandwidth", *PART],
          [["paper"] + [str(bytes_of[device.split(",")[0]]) for device in PART],
           *([name] + [str(points.saturating(values, device, limits[device])) for device in PART]
             for name, values in zip(("allowed", "measured"), both))])
    print("Figure 7: percent of the bandwidth of reads of 4 KB that is lost; allowed (measured)\n")
    table(["small reads", *PART],
          [[f"{share:.0%}"] + ["{:.1f} ({:.1f})".format(
              *(points.lost(values, device, share) for values in both)) for device in PART]
           for share in SHARES[1:]])
    beside = []
    for point in paper["lost"]["points"]:
        for device in PART:
            if device.split(",")[0] != point["device"]:
                continue
            ours = points.lost(points.allowed, device, point["small"])
            beside.append(compare(f"{device}, {point['small']:.0%} small", ours, point["percent"]))
            if "most" in point:
                ours = max(points.lost(points.allowed, device, share) for share in SHARES[1:-1])
                beside.append(compare(f"{device}, at most", ours, point["percent"]))
    table(["lost", "paper", "allowed", "within a tenth"], beside)
    deviation = max(abs(points.measured[key] / value - 1)
                    for key, value in points.allowed.items())
    print(f"Measured differs from allowed by {deviation:.1%} at most.")
    for device in PART:
        print("`{tier_model}`".format(**next(row for row in rows if device_of(row) == device)))
    print("{host}, {commit}, {passes} passes of {pass_ms:g} ms".format(**rows[0]))


def main():
    options = parse()
    if len(options.paths) != (1 if options.show else 2):
        raise SystemExit(__doc__)
    out = options.paths[-1]
    if not options.show:
        run(pathlib.Path(options.paths[0]) / "farvec", out, options)
    rows = [json.loads(line) for line in pathlib.Path(out).read_text().splitlines()]
    show(rows, json.loads((HERE / "paper_devices.json").read_text()))


if __name__ == "__main__":
    main()
