"""Rounds of a long test, which go on where an earlier run stopped. Each round has a generator of its
own, made of the seed and the round's number, so that one round can be run again."""
import argparse
import json
import os
import pathlib
import random
import signal
import sys
import time


class Rounds:
    """Counts rounds in a file; without one, from the first on. `state` is a path or None."""

    def __init__(self, state, seed, count, minutes=None):
        self.path = pathlib.Path(state) if state else None
        self.said = {"seed": seed, "done": 0, "faults": [], "kinds": {}}
        if self.path and self.path.exists():
            self.said = json.loads(self.path.read_text())
        self.count = count
        self.end = None if minutes is None else time.monotonic() + 60 * minutes

    def __iter__(self):
        """(number, generator) of each round that is left; a round is done when the next is asked for."""
        while self.said["done"] < self.count and (self.end is None or time.monotonic() < self.end):
            number = self.said["done"]
            yield number, random.Random(f"{self.said['seed']}/{number}")
            self.said["done"] = number + 1
            self.write()

    def note(self, kind):
        self.said["kinds"][kind] = self.said["kinds"].get(kind, 0) + 1

    def fault(self, number, text):
        self.said["faults"].append({"round": number, "text": text})
        self.write()

    def write(self):
        if self.path is None:
            return
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.said, indent=1) + "\n")
        new.replace(self.path)


def use_build(folder):
    """Sets what CTest tells the tests, for a build's folder. Before tests are imported."""
    folder = pathlib.Path(folder).resolve()
    config = next((line.split("=", 1)[1] for line in (folder / "CMakeCache.txt").read_text().splitlines()
                   if line.startswith("FARVEC_PG_CONFIG:")), "pg_config")
    os.environ.update(FARVEC_BIN_DIR=str(folder / "bin"), FARVEC_PG_CONFIG=config,
                      FARVEC_POSTGRES_DIR=str(folder / "postgres"),
                      FARVEC_LIBRARY=str(folder / "client/c/libfarvec.so"))


def options_by_hand(arguments, description):
    """None where a test is run as any other: then no --rounds is named."""
    if not any(word.startswith("--rounds") for word in arguments):
        return None
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--rounds", type=int, required=True, help="how many in all runs together")
    add("--state", help="file that says how many were done; without it they begin anew")
    add("--seed", type=int, default=1, help="of a new state (%(default)s)")
    add("--minutes", type=float, help="end after the round in which so many have passed")
    add("--build", default="build/release", help="the build's folder (%(default)s)")
    options = parser.parse_args(arguments)
    use_build(options.build)
    return options


def run_by_hand(options, test, rounds_per_server):
    """Runs rounds of a test class, which has round(rounds, number, generator) and log(). A round that
    fails is noted, its server's log is kept, and the next has another server. Answers how many failed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return run_rounds(options, test, rounds_per_server)
    finally:
        test.doClassCleanups()


def run_rounds(options, test, rounds_per_server):
    rounds = Rounds(options.state, options.seed, options.rounds, options.minutes)
    began = time.monotonic()
    left = 0  # rounds that this server still has
    failed = 0
    for number, generator in rounds:
        if left == 0:
            test.doClassCleanups()
            test.setUpClass()
            left = rounds_per_server
        left -= 1
        try:
            test.round(rounds, number, generator)
        except Exception as error:  # whatever a server does is looked for
            failed += 1
            print(f"round {number}: {type(error).__name__}: {error}", flush=True)
            rounds.fault(number, f"{type(error).__name__}: {error}")
            pathlib.Path(f"{options.state or 'rounds'}.{number}.log").write_text(test.log())
            left = 0
        if number % 10 == 0:
            print(f"round {number}, {time.monotonic() - began:.0f} s: {rounds.said['kinds']}", flush=True)
    print(f"{rounds.said['done']} rounds of seed {rounds.said['seed']} in all: {rounds.said['kinds']}; "
          f"{len(rounds.said['faults'])} have failed")
    return failed
