"""What is measured of pgvector: the build, ef_search and its recall, rates, pages, inserts."""
import json
import os
import platform
import statistics
import sys

PAGE = 8192
LEAST_PAGES = 128  # of a buffer: the connections pin pages of graph, table and catalogs
MOST_EF = 1000  # pgvector's own limit


def buffer_of(text, index_bytes):
    """`64M` or, of an index, `10%`: (how a table names it, bytes in whole pages)."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "%": index_bytes / 100}
    number, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1)
    try:
        pages = max(LEAST_PAGES, int(float(number) * unit) // PAGE)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"--buffers: '{text}' is neither bytes nor a share in %") from error
    return f"{text} ({pages * PAGE / 1e6:,.1f} MB)", pages * PAGE


def least_ef(recall_of, target, least):
    """By doubling, then bisection; None when not even the most reaches the target."""
    low = high = least
    while recall_of(high) < target:
        if high == MOST_EF:
            return None
        low, high = high + 1, min(MOST_EF, 2 * high)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if recall_of(middle) >= target else (middle + 1, high)
    return low


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file
                        if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


class Run:
    """All that is measured, into `facts`."""

    def __init__(self, options, workload, further, table):
        self.options, self.workload, self.further = options, workload, further
        self.server, self.table = table.server, table
        self.facts = {"command": sys.argv, "processor": processor(),
                      "workload": workload.name, "rows": workload.rows, "kind": options.kind,
                      "dimension": int(workload.dimension), "metric": options.metric,
                      "m": options.m, "ef_construction": options.ef_construction,
                      "direct": not options.buffered, "queries": [], "inserts": []}

    def start(self, size):
        settings = {"shared_buffers": f"{size >> 10}kB"}
        if not self.options.buffered:
            settings["debug_io_direct"] = "data"
        self.server.start(settings)

    def made_of(self):
        """What a kept build must have been made of to serve again."""
        files = [os.path.realpath(path) for path in (self.options.data, self.options.queries)]
        stats = [os.stat(path) for path in files]
        same = {key: self.facts[key] for key in ("kind", "metric", "m", "ef_construction")}
        return {**same, "postgresql": self.server.version(), "files": [
            [path, stat.st_size, stat.st_mtime_ns] for path, stat in zip(files, stats)]}

    def build(self):
        """Load and build, unless the folder has it from an earlier run."""
        marker, wanted = self.server.folder / "built.json", self.made_of()
        built = json.loads(marker.read_text()) if marker.exists() else {}
        if any(built.get(key) != value for key, value in wanted.items()):
            self.server.create()
            self.start(self.options.build_buffers << 20)
            built = {**wanted, **self.load_and_build()}
            self.server.stop()
            marker.write_text(json.dumps(built))
        self.facts.update(built)

    def load_and_build(self):
        options, table = self.options, self.table
        print("loading ...", file=sys.stderr, flush=True)
        self.server.ask("CREATE EXTENSION vector")
        table.load("items", self.workload.base_file)
        table.load("queries", self.workload.queries, storage="STORAGE plain")
        print("building ...", file=sys.stderr, flush=True)
        workers = len(os.sched_getaffinity(0)) - 1
        seconds, notes = table.build(options.build_memory, workers)
        version, _ = self.server.ask("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        return {"pgvector": version, "build_seconds": seconds, "build_notes": notes,
                "build_workers": workers + 1, "build_memory_mib": options.build_memory,
                "index_bytes": table.bytes_of("pg_relation_size('items_v')"),
                "table_bytes": table.bytes_of("pg_table_size('items')")}

    def choose(self):
        """(ef, target or None, recall on the second half) of every point to measure."""
        options, halves = self.options, self.workload.halves()
        self.start(options.build_buffers << 20)
        self.table.check_plan(options.k)
        known = {}

        def recall(ef, half=0):
            if (ef, half) not in known:
                found = self.table.search(halves[half], options.k, ef)
                known[ef, half] = self.workload.recall(found, halves[half], options.k)
                print(f"ef_search {ef}: recall {known[ef, half]:.4f} of the "
                      f"{'second' if half else 'first'} half", file=sys.stderr, flush=True)
            return known[ef, half]

        wanted = [(ef, None) for ef in options.ef]
        for target in options.recalls:
            ef = least_ef(recall, target, options.k)
            if ef is None:
                print(f"warning: recall {target} is not reached with ef_search {MOST_EF}",
                      file=sys.stderr)
            else:
                wanted.append((ef, target))
        points = [(ef, target, recall(ef, 1)) for ef, target in wanted]
        self.server.stop()
        return points

    def measure(self, label, points):
        """The passes of one buffer size, in turn over points and connections."""
        options, second = self.options, self.workload.halves()[1]
        taken = {}
        for number in range(options.passes):
            for point in points:
                # Warm: with the pages that this point's searches leave in the buffer.
                self.table.run_queries(second, options.k, point[0], max(options.connections),
                                       options.seconds)
                for connections in options.connections:
                    before = self.table.counters()
                    latencies, rate = self.table.run_queries(second, options.k, point[0],
                                                             connections, options.seconds)
                    after = self.table.counters()
                    taken.setdefault((point, connections), []).append(
                        (rate, latencies, after[0] - before[0], after[1] - before[1]))
            print(f"buffer {label}: pass {number + 1} of {options.passes}", file=sys.stderr,
                  flush=True)
        return [self.summary(label, *key, found) for key, found in taken.items()]

    @staticmethod
    def summary(label, point, connections, found):
        rates = [rate for rate, *_ in found]
        latencies = [value for _, values, *_ in found for value in values]
        hits, reads = (sum(one[place] for one in found) for place in (2, 3))
        return {"buffer": label, "ef_search": point[0], "target": point[1], "recall": point[2],
                "connections": connections, "qps": statistics.median(rates),
                "qps_min": min(rates), "qps_max": max(rates),
                "p50_us": percentile(latencies, 0.5), "p99_us": percentile(latencies, 0.99),
                "pages_hit": hits / len(latencies), "pages_read": reads / len(latencies)}

    def insert(self, labels):
        """Further rows, for every buffer size a share of them, each way a share of that."""
        ways = [*self.options.connections, None]
        count = len(self.further) // (len(labels) * len(ways))
        if count < max(self.options.connections):
            raise ValueError(f"--insert: {len(self.further)} rows are too few for {len(labels)} "
                             f"buffers and {len(ways)} ways to insert")
        (self.server.folder / "built.json").unlink()  # it will hold more than was built
        first = self.workload.rows
        for number, (label, size) in enumerate(labels):
            self.start(size)
            if number == 0:
                self.table.load("further", self.further, first, "STORAGE plain")
            for connections in ways:
                rate = (self.table.insert_together(first, count) if connections is None else
                        self.table.insert_singly(first, count, connections))
                first += count
                self.facts["inserts"].append({
                    "buffer": label, "connections": connections or 1, "rows_per_second": rate,
                    "rows": count, "together": connections is None})
            self.server.stop()

    def whole(self):
        self.build()
        points = self.choose()
        labels = [buffer_of(text, self.facts["index_bytes"]) for text in self.options.buffers]
        for label, size in labels:
            self.start(size)
            self.facts["queries"] += self.measure(label, points)
            self.server.stop()
        if self.further is not None:
            self.insert(labels)
