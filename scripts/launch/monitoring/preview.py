#!/usr/bin/env python3
"""Draws the dashboard from what a Prometheus has of running daemons, where no Grafana shows it.

    scripts/launch/monitoring/preview.py http://localhost:9090 --out dashboard.png

Every panel of dashboard.json with its own queries, places, units and legends, for the minutes before
now. A panel without a series says so. Exit status 1 when the Prometheus does not answer or refuses a
query; nothing is written then.
"""
import argparse
import json
import math
import pathlib
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot, ticker  # noqa: E402  (after the choice of what draws)

DASHBOARD = pathlib.Path(__file__).with_name("dashboard.json")
POINTS = 240  # of a series, at most
TIMEOUT_S = 20
COLUMNS = 24  # of Grafana's grid
INCHES = 15 / COLUMNS
MOST_IN_LEGEND = 8
SECOND_UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
# Okabe and Ito's palette.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999", "#F0E442")


class PreviewError(Exception):
    """What kept it from drawing."""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prometheus", help="its address, as http://localhost:9090")
    parser.add_argument("--out", required=True, type=pathlib.Path, help=".png, .svg or .pdf to write")
    parser.add_argument("--minutes", type=float, default=30, help="until now (%(default)s)")
    parser.add_argument("--interval", default="1m", help="of rates, at least four times as long as "
                        "between two scrapes (%(default)s)")
    parser.add_argument("--instances", default=".*", help="nodes, a regular expression (%(default)s)")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--narrow", action="store_true", help="one panel beside another")
    parser.add_argument("--json", action="store_true",
                        help="print what was drawn: a line a panel, with the last value of each series")
    arguments = parser.parse_args()
    if not 0 < arguments.minutes <= 60 * 24 * 366:
        parser.error("--minutes: more than 0, and a year at most")
    return arguments


class Prometheus:
    def __init__(self, arguments):
        self.address = arguments.prometheus.rstrip("/")
        self.variables = {"$__rate_interval": arguments.interval, "$instance": arguments.instances}
        self.end = time.time()
        self.start = self.end - 60 * arguments.minutes

    def series(self, expression):
        """[(labels, times, values)] of a query's range."""
        for name, value in self.variables.items():
            expression = expression.replace(name, value)
        step = max(1.0, (self.end - self.start) / POINTS)
        query = urllib.parse.urlencode({"query": expression, "start": self.start, "end": self.end,
                                        "step": step})
        try:
            with urllib.request.urlopen(f"{self.address}/api/v1/query_range?{query}",
                                        timeout=TIMEOUT_S) as answer:
                found = json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            raise PreviewError(f"{self.address} refuses '{expression}': "
                               f"{error.read(500).decode(errors='replace')}") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise PreviewError(f"{self.address} does not answer as a Prometheus does: {error}") from error
        return [(row["metric"], [float(at) for at, _ in row["values"]],
                 [float(value) for _, value in row["values"]]) for row in found]


def legend(form, labels):
    return re.sub(r"{{\s*(\w+)\s*}}", lambda match: labels.get(match[1], ""), form).strip()


def scaled(value, step, units):
    for unit in units:
        if abs(value) < step:
            return f"{value:.3g} {unit}".rstrip()
        value /= step
    return f"{value * step:.3g} {units[-1]}"


def readable(value, unit):
    """As Grafana writes values of its unit."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if unit == "s":
        for size, name in SECOND_UNITS:
            if abs(value) >= size:
                return f"{value / size:.3g} {name}"
    if unit == "percentunit":
        return f"{100 * value:.3g}%"
    if unit in ("bytes", "Bps"):
        return scaled(value, 1024, ("B", "KiB", "MiB", "GiB", "TiB")) + ("/s" if unit == "Bps" else "")
    return scaled(value, 1000, ("", "K", "M", "G")) + ("/s" if unit == "reqps" else "")


def unit_of(panel):
    return panel.get("fieldConfig", {}).get("defaults", {}).get("unit", "short")


def ask(panel, prometheus):
    """[(name, times, values)] of all its queries."""
    return [(legend(target.get("legendFormat", ""), labels), times, values)
            for target in panel.get("targets", ()) for labels, times, values in
            prometheus.series(target["expr"])]


def draw_panel(axes, panel, series, prometheus):
    axes.set_title(panel["title"], loc="left", fontsize=10)
    axes.set_xlim(prometheus.start, prometheus.end)
    axes.xaxis.set_major_locator(ticker.MaxNLocator(4))
    axes.xaxis.set_major_formatter(lambda at, _: time.strftime("%H:%M:%S", time.gmtime(at)))
    axes.yaxis.set_major_formatter(lambda value, _: readable(value, unit_of(panel)))
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.25)
    for spine in axes.spines.values():
        spine.set_alpha(0.3)
    if not series:
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", alpha=0.6)
        return
    for number, (name, times, values) in enumerate(series):
        axes.plot(times, values, linewidth=1.2, color=COLOURS[number % len(COLOURS)],
                  label=name if number < MOST_IN_LEGEND else None)
    top = max((value for _, _, values in series for value in values if math.isfinite(value)), default=0)
    axes.set_ylim(0, 1.15 * top if top > 0 else 1)
    axes.legend(fontsize=6.5, loc="upper left", bbox_to_anchor=(0, -0.14), ncol=2, frameon=False)


def places(panels, narrow):
    """Of each panel (x, y, width, height) in the grid; narrow: one below the other."""
    if not narrow:
        return [tuple(panel["gridPos"][name] for name in "xywh") for panel in panels]
    result, below = [], 0
    for panel in panels:
        result.append((0, below, COLUMNS, panel["gridPos"]["h"]))
        below += panel["gridPos"]["h"]
    return result


def draw(drawn, prometheus, arguments):
    """`drawn`: [(panel, series)]."""
    pyplot.style.use("dark_background" if arguments.dark else "default")
    grid = places([panel for panel, _ in drawn], arguments.narrow)
    width = INCHES * COLUMNS / (3 if arguments.narrow else 1)
    rows = max(y + height for _, y, _, height in grid)
    row = 0.42  # inches
    figure = pyplot.figure(figsize=(width, row * rows), dpi=100)
    for (panel, series), (x, y, wide, high) in zip(drawn, grid):
        left, top = x / COLUMNS, 1 - y / rows
        if panel["type"] == "row":
            figure.text(left + 0.008, top - 0.7 / rows, panel["title"], fontsize=13, weight="bold")
            continue
        inside = 0.055 * (3 if arguments.narrow else 1)
        axes = figure.add_axes((left + inside, top - (high - 2.6) / rows,
                                wide / COLUMNS - inside - 0.012, (high - 3.5) / rows))
        draw_panel(axes, panel, series, prometheus)
    partial = arguments.out.with_name(f".{arguments.out.name}")
    figure.savefig(partial, format=arguments.out.suffix[1:] or "png")
    partial.replace(arguments.out)


def main():
    arguments = parse_arguments()
    prometheus = Prometheus(arguments)
    panels = json.loads(DASHBOARD.read_text())["panels"]
    try:
        drawn = [(panel, ask(panel, prometheus)) for panel in panels]
        draw(drawn, prometheus, arguments)
    except (PreviewError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    empty = [panel["title"] for panel, series in drawn if panel["type"] != "row" and not series]
    if arguments.json:
        for panel, series in drawn:
            if panel["type"] != "row":
                print(json.dumps({"panel": panel["title"], "unit": unit_of(panel),
                                  "last": {name: values[-1] for name, _, values in series}}))
    else:
        print(f"{arguments.out}: {sum(bool(series) for _, series in drawn)} panels"
              + (f"; no data: {', '.join(empty)}" if empty else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
