"""One peer in a process of its own: requests and answers are JSON, one a line.

Whatever a library prints goes to standard error, since its standard output carries the answers.
"""
import importlib.metadata
import json
import os
import select
import subprocess
import sys
import time

# A rate is of at least this long a run; short query sets are searched again.
MOST_REPEATS = 50
# Queries of the latency are sent one by one, for at most so long.
LATENCY_SECONDS = 20.0
ANSWER_TIMEOUT_S = 3600
LONGEST_REASON = 160


class PeerError(Exception):
    """The library failed; what it said."""


def reason_of(text):
    """The last line that says something, short enough for a table."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reason = lines[-1] if lines else "no reason given"
    return reason if len(reason) <= LONGEST_REASON else reason[:LONGEST_REASON - 3] + "..."


def version_of(package):
    try:
        return importlib.metadata.version(package.split(">")[0].split("<")[0])
    except importlib.metadata.PackageNotFoundError:
        return ""


class Bench:
    """Searches half of the queries, in this process."""

    def __init__(self, peer, workload, k):
        self.peer, self.workload, self.k = peer, workload, k
        self.found = {}

    def latencies_us(self, queries, effort):
        start, taken = time.perf_counter(), []
        for number in range(len(queries)):
            before = time.perf_counter()
            self.peer.search(queries[number:number + 1], self.k, effort)
            taken.append(1e6 * (time.perf_counter() - before))
            if time.perf_counter() - start > LATENCY_SECONDS:
                break
        return sorted(taken)

    def run(self, request):
        """{"half", "parameters", "seconds", "latency"} to {"recall", "qps", "processor_us", "p99_us"}."""
        which = self.workload.halves()[request["half"]]
        queries = self.peer.queries[which.start:which.stop]
        parameters = dict(request["parameters"])
        effort = parameters.pop("effort")
        self.peer.use(**parameters)
        start, repeats, seconds, processor = time.perf_counter(), 0, 0.0, time.process_time()
        while repeats == 0 or (seconds < request["seconds"] and repeats < MOST_REPEATS):
            found = self.peer.search(queries, self.k, effort)
            repeats, seconds = repeats + 1, time.perf_counter() - start
        processor = time.process_time() - processor
        key = json.dumps([request["half"], request["parameters"]])
        if key not in self.found:
            self.found[key] = self.workload.recall(found, which, self.k)
        answer = {"recall": self.found[key], "qps": repeats * len(queries) / seconds,
                  "processor_us": 1e6 * processor / (repeats * len(queries))}
        if request["latency"]:
            taken = self.latencies_us(queries, effort)
            answer["p99_us"] = taken[min(len(taken) - 1, int(0.99 * len(taken)))]
        return answer


def serve(peer, package, workload, k):
    """Answers requests from standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        peer.load()
        bench = Bench(peer, workload, k)
        efforts = peer.efforts
        answer({"label": peer.label.replace("{list}", str(workload.build_list)),
                "version": version_of(package), "settings": peer.settings,
                "efforts": [efforts.start, efforts.stop]})
        for line in sys.stdin:
            answer(bench.run(json.loads(line)))
    except Exception as error:  # whatever a library throws belongs into the table
        answer({"error": f"{type(error).__name__}: {error}"})
    sys.exit(0)


class Worker:
    """The other end: starts the process, and asks it."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)
        self.hello = self.read()

    def read(self):
        """One line; a worker that ended or said nothing for too long has failed."""
        ready, _, _ = select.select([self.process.stdout], [], [], ANSWER_TIMEOUT_S)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            if not ready:
                self.process.kill()
            status = self.close()
            raise PeerError("no answer in time" if not ready else f"its process ended ({status})")
        value = json.loads(line)
        if "error" in value:
            self.close()
            raise PeerError(reason_of(value["error"]))
        return value

    def ask(self, request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # what is read says why
        return self.read()

    def close(self):
        """Its exit status; may be called again."""
        for end in (self.process.stdin, self.process.stdout):
            try:
                end.close()
            except BrokenPipeError:
                pass
        try:
            return self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
