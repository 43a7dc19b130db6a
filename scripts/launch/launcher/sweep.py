"""Searches through all compute nodes at once, for every list and width: JSON lines and a figure."""
import json
import pathlib
import statistics
import subprocess
import time

from . import checks, commands
from .errors import LaunchError
from .loading import call
from .machines import PARALLEL, in_parallel

PLOT = pathlib.Path(__file__).parents[2] / "plots/launch.py"
PLOT_SECONDS = 120


class Sweep:
    def __init__(self, config, out):
        self.config = config
        self.out = pathlib.Path(out)
        self.nodes = config.daemons("compute")
        self.end = time.monotonic() + config.limits["sweep_seconds"]
        for key in ("queries", "groundtruth"):
            if not pathlib.Path(config.sweep[key]).is_file():
                raise LaunchError(f"{config.file}: sweep.{key}: '{config.sweep[key]}' is no file; "
                                  "name a vector file on this machine")
        if len(self.nodes) * config.sweep["clients"] > PARALLEL:
            raise LaunchError(f"{config.file}: sweep.clients: {config.sweep['clients']} on each of "
                              f"{len(self.nodes)} compute nodes are more than {PARALLEL}")

    def run(self):
        self.out.mkdir(parents=True, exist_ok=True)
        facts = self.facts()
        lines = [facts | self.point(length, width) for width in self.config.sweep["width"]
                 for length in self.config.sweep["list"]]
        path = self.out / "sweep.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        for line in lines:
            print(f"list {line['list']:4}  width {line['width']:2}  recall@{line['k']} "
                  f"{line['recall']:.4f}  {line['qps']:10,.0f} queries/s")
        print(path)
        call([str(PLOT), str(path), "--out", str(self.out)], PLOT_SECONDS)
        return 0

    def facts(self):
        """What is the same on every line."""
        config = self.config
        served = self.collection_facts() if config.collection else self.index_facts()
        return {"name": config.name, **served, "compute_nodes": len(self.nodes),
                "threads": config.compute["threads"], "slots": config.compute["slots"],
                "clients": config.sweep["clients"]}

    def index_facts(self):
        manifest = checks.read_manifest(self.config)
        placement = self.config.placement
        return {"dataset": manifest.get("dataset", {}).get("name", ""),
                "metric": manifest.get("metric", ""),
                "layout": manifest.get("graph", {}).get("layout", ""), "tier": self.config.tier,
                "memory_nodes": len(placement.memory_nodes), "replicas": placement.replicas,
                "index_bytes": checks.index_bytes(manifest)}

    def collection_facts(self):
        """As its writer tells them."""
        collection = self.config.collection
        writer = next(d for d in self.nodes if d.node.name == collection.writer)
        index = json.loads(self.ask("status", writer.address, "--json"))["index"]
        return {"dataset": pathlib.Path(collection.path).name,
                "metric": index["metric"], "layout": index["layout"], "tier": index["tier"],
                "memory_nodes": len(collection.segments.nodes),
                "replicas": collection.segments.copies or min(2, len(collection.segments.nodes)),
                "index_bytes": index["index_bytes"]}

    def point(self, length, width):
        """One combination: medians over the passes."""
        passes = [self.measure(length, width) for _ in range(self.config.sweep["passes"])]
        nodes = [{"name": daemon.name, "address": daemon.address,
                  "recall": passes[-1][place]["recall"],
                  "qps": statistics.median(one[place]["qps"] for one in passes)}
                 for place, daemon in enumerate(self.nodes)]
        return {"k": self.config.sweep["k"], "list": length, "width": width,
                "queries": passes[-1][0]["queries"],
                "recall": min(node["recall"] for node in nodes),
                "qps": statistics.median(sum(node["qps"] for node in one) for one in passes),
                "nodes": nodes}

    def measure(self, length, width):
        """One pass: every client of every compute node at once; a node's rate is the sum of its
        clients'."""
        clients = self.config.sweep["clients"]
        results = in_parallel([lambda d=d: self.search(d, length, width)
                               for d in self.nodes for _ in range(clients)])
        groups = [results[place:place + clients] for place in range(0, len(results), clients)]
        return [{"qps": sum(one["qps"] for one in group), "queries": group[0]["queries"],
                 "recall": min(one["recall"] for one in group)} for group in groups]

    def search(self, daemon, length, width):
        sweep = self.config.sweep
        return json.loads(self.ask(
            "search", "--connect", daemon.address, "--queries", sweep["queries"], "--groundtruth",
            sweep["groundtruth"], "--k", str(sweep["k"]), "--list", str(length), "--width",
            str(width), "--json"))

    def ask(self, *words):
        """What the tool prints, run with the sweep's certificate."""
        tls = self.config.tls
        command = [commands.tool(self.config), *words,
                   *commands.tls_options(self.config, tls.get("directory"), tls.get("client"))]
        try:
            result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                                    text=True, timeout=max(1, self.end - time.monotonic()),
                                    check=False)
        except subprocess.TimeoutExpired as error:
            raise LaunchError(f"the sweep did not end within limits.sweep_seconds = "
                              f"{self.config.limits['sweep_seconds']}; this had not: "
                              f"{' '.join(command)}") from error
        if result.returncode != 0:
            raise LaunchError(f"{' '.join(command)} failed: {result.stderr.strip()}; see "
                              "`launch.sh logs`")
        return result.stdout
