"""The command line of the study; scripts/study/run.sh runs it."""
import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys
import time

from . import ROOT, StudyError
from .lab import FULL, QUICK, Lab, TimeUp
from .pages import section, write_page, write_summary
from .papers import load
from .registry import chosen
from .store import Store, this_machine
from .verdict import sentence

QUICK_MINUTES = 18
LONG_VECTORS = "hog576-300K"  # measured too where --data has it (docs/measure/datasets.md)


def words(text):
    return [word for word in text.split(",") if word]


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/study/run.sh", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Redraws the figures of the papers that farvec comes from beside what this machine\n"
        "measures, into docs/study/: a page per paper, a sentence per item. What was\n"
        "measured stays in --work, so the same command goes on where it was ended.",
        epilog="Examples:\n  scripts/study/run.sh --quick\n  scripts/study/run.sh --full --only 004\n"
        "  scripts/study/run.sh --list")
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="the first 50,000 rows of each set, few "
                        f"points, short passes; ends after {QUICK_MINUTES} minutes with what it has "
                        "[default]")
    effort.add_argument("--full", action="store_true", help="the whole sets, three rounds: hours, on a "
                        "machine with nothing else to do")
    parser.add_argument("--only", type=words, default=[], metavar="ITEMS", help="items, papers or figures, "
                        "like 004-F8, 004 or F8,F9; the sections of others stay as they are")
    parser.add_argument("--list", action="store_true", help="name the items, and end")
    parser.add_argument("--sets", type=words, help="sets of --data to measure [sift1m,text300k, "
                        f"and {LONG_VECTORS} where it is there]")
    parser.add_argument("--rows", type=int, help="rows of each set; 0: all [--quick: 50000]")
    parser.add_argument("--degrees", type=numbers, help="of graphs, like 16,32")
    parser.add_argument("--peers", type=words, help="other libraries in 001's table, as bench/peers/run.py "
                        f"names them [--quick: {','.join(QUICK.peers)}; --full: {','.join(FULL.peers)}]")
    parser.add_argument("--minutes", type=float, help="begin no measurement after so many, and end those "
                        f"that run [--quick: {QUICK_MINUTES}; --full: no limit]")
    parser.add_argument("--data", type=path, default=ROOT.parent / "shared" / "data",
                        help="folder of the sets: SET/base.*, SET/query.*, SET/gt100.ibin [../shared/data]")
    parser.add_argument("--work", type=path, default=ROOT / "build" / "study",
                        help="folder of indexes and measured rows [build/study]")
    parser.add_argument("--out", type=path, default=ROOT / "docs" / "study",
                        help="folder of the pages [docs/study]")
    parser.add_argument("--bin", type=path, default=ROOT / "build" / "release" / "bin",
                        help="folder of the built programs [build/release/bin]")
    parser.add_argument("--json", type=path, help="file for a line per item: its rows, the paper's numbers "
                        "and ours, the sentence")
    parser.add_argument("--cpu", type=int, default=1, help="processor of the searches [1]")
    return parser.parse_args()


def numbers(text):
    return tuple(int(word) for word in words(text))


def path(text):
    return pathlib.Path(text).absolute()


def effort_of(options):
    effort = FULL if options.full else QUICK
    sets = options.sets
    if not sets and (options.data / LONG_VECTORS).is_dir():
        sets = [*effort.sets, LONG_VECTORS]
    peers = None if options.peers is None else tuple(options.peers)
    changes = {"sets": sets and tuple(sets), "rows": options.rows, "degrees": options.degrees,
               "peers": peers}
    return dataclasses.replace(effort, **{name: value for name, value in changes.items()
                                          if value is not None})


def commit_of(farvec):
    """Of the program; one that was built from changed files is told from another by its time."""
    if not farvec.exists():
        raise StudyError(f"no program {farvec}: scripts/build.sh release builds it, or say where with --bin")
    version = subprocess.run([farvec, "--version"], capture_output=True, text=True, check=True,
                             timeout=30).stdout.strip()
    dirty = f", built {int(farvec.stat().st_mtime)}" if "dirty" in version else ""
    return version + dirty


class Run:
    """The items of one call, their pages, and how long is left."""

    def __init__(self, options):
        self.options, self.papers = options, load()
        self.items = chosen(options.only)
        options.work.mkdir(parents=True, exist_ok=True)
        options.out.mkdir(parents=True, exist_ok=True)
        self.store = Store(options.work / "rows.jsonl", this_machine(), commit_of(options.bin / "farvec"))
        self.lab = Lab(options, effort_of(options), self.store)
        self.begin, self.expected_s = time.monotonic(), 0
        self.failed = []

    def left(self, coming):
        """About how many seconds the items that are coming take, by how long the others took."""
        spent = time.monotonic() - self.begin
        scale = spent / self.expected_s if self.expected_s else 1
        return scale * sum(item.seconds for item in coming)

    def all(self):
        for place, item in enumerate(self.items):
            left = self.left(self.items[place:])
            print(f"[{place + 1}/{len(self.items)}] {item.name}: {item.title} (about "
                  f"{left / 60:.0f} min left)", file=sys.stderr, flush=True)
            try:
                self.one(item)
            except TimeUp:
                missing = [some.name for some in self.items[place:]]
                print(f"time is up: not measured: {', '.join(missing)}; the same command goes on",
                      file=sys.stderr)
                break
            except StudyError as error:
                print(f"error: {item.name}: {error}", file=sys.stderr)
                self.failed.append(item.name)
            self.expected_s += item.seconds
        write_summary(self.options.out, self.papers)

    def one(self, item):
        paper = self.papers[item.paper]
        figure = paper.figures[item.name.split("-")[1]]
        rows = item.measure(self.lab)
        claims = item.claims(rows, figure.numbers)
        picture = f"{item.name.lower()}.png"
        drawn = bool(rows) and item.draw(rows, self.options.out / picture)
        text = section(item, figure, claims, {
            "picture": picture if drawn else None, "table": item.table(rows) if rows else ([], []),
            "where": self.where(item)})
        write_page(self.options.out, item.paper, paper, {item.name: text})
        print(f"  {sentence(claims)}", flush=True)
        if self.options.json:
            self.write_json(item, rows, claims)

    def where(self, item):
        effort = self.lab.effort
        rows = f"the first {effort.rows:,} rows of each set" if effort.rows else "whole sets"
        data = item.measured_on or f"{rows} ({', '.join(effort.sets)})"
        return (f"`scripts/study/run.sh --{effort.name}` on {self.store.machine}: {data}, "
                f"{self.store.commit}.")

    def write_json(self, item, rows, claims):
        line = {"item": item.name, "effort": self.lab.effort.name, "machine": self.store.machine,
                "commit": self.store.commit, "sentence": sentence(claims), "rows": rows,
                "numbers": [{"name": claim.number.name, "paper": [claim.number.low, claim.number.high],
                             "ours": claim.ours_text(), "status": claim.status()} for claim in claims]}
        with self.options.json.open("a") as out:
            out.write(json.dumps(line) + "\n")


def main():
    options = arguments()
    if options.minutes is None and not options.full:
        options.minutes = QUICK_MINUTES
    try:
        if options.list:
            for item in chosen(options.only):
                print(f"{item.name:10} {item.title}")
            return 0
        run = Run(options)
        run.all()
    except StudyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("ended; the same command goes on", file=sys.stderr)
        return 130
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
