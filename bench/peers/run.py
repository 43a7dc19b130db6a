#!/usr/bin/env python3
"""Compares farvec with other vector indexes: same data, same queries, one thread, passes in turn.

Example (the index is what `farvec build graph` made of the same data):
    bench/peers/run.py --data base.fbin --queries query.fbin --groundtruth gt100.ibin \\
        --metric l2 --index INDEX=95 --peers hnswlib,svs,symphonyqg --out docs/results/peers-NAME

The libraries come from PyPI into build/peers-venv, made on first use. Their indexes are built on
all cores, once, and kept in build/peers/. Parameters are chosen on the first half of the queries;
the figures are of the second half. Each library runs in a process of its own; one that cannot be
installed, built or run has a line with its error. Without --index only the peers are measured.
"""
import argparse
import itertools
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time

import worker
from worker import PeerError, reason_of

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
CACHE = ROOT / "build" / "peers"
PACKAGES = {"hnswlib": "hnswlib", "faiss-hnsw": "faiss-cpu", "faiss-ivf": "faiss-cpu",
            "usearch": "usearch", "svs": "scalable-vs", "svs-raw": "scalable-vs",
            "symphonyqg": "rabitqlib>=0.7", "scann": "scann", "pyglass": "pyglass-portable",
            "vsag": "pyvsag", "alayalite": "alayalite"}
# Bits, which bits.py asks for; the rows that rank again are compared by faiss.
BIT_PACKAGES = {"faiss-bits": "faiss-cpu", "faiss-bits-32": "faiss-cpu", "faiss-bits-flat": "faiss-cpu",
                "usearch-b1": "usearch", "usearch-b1-32": "usearch", "usearch-b1-jaccard": "usearch",
                "usearch-f16": "usearch"}
DEFAULT_BUILD_LIST = 200
BUILD_TIMEOUT_S = 4 * 3600
# What searches from disk; diskannpy wants an older numpy, so these have an environment of their own,
# and AlayaLite, which wants newer packages, another.
DISK_PACKAGES = {"diskann": "diskannpy", "diskann-48": "diskannpy", "laser": "alayalite[laser]",
                 "faiss-ondisk": "faiss-cpu<1.9"}


def list_lengths():
    length = 10
    while length <= 320:
        yield length
        length += max(1, round(length / 25))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help=".fbin, .u8bin or .i8bin")
    parser.add_argument("--queries", required=True)
    parser.add_argument("--groundtruth", required=True, help=".ibin")
    parser.add_argument("--metric", choices=("l2", "ip", "cosine"), default="l2")
    parser.add_argument("--index", action="append", default=[], metavar="DIR[=SECONDS]",
                        help="index directory of `farvec build graph`, and what building it took, "
                        "for the table; again for other layouts")
    parser.add_argument("--hnsw", action="append", default=[], metavar="DIR[=SECONDS]",
                        help="the same of `farvec build hnsw`, searched with --memory-budget as "
                        "its buffer")
    parser.add_argument("--hnsw-slots", default="1,8", help="its searches in flight (%(default)s)")
    parser.add_argument("--peers", default=",".join(PACKAGES), help="of " + ", ".join(PACKAGES) +
                        "; or, with --memory-budget, one of " + ", ".join(DISK_PACKAGES))
    parser.add_argument("--memory-budget", type=int, default=0,
                        help="bytes that a peer which searches from disk may keep of its index")
    parser.add_argument("--build-list", type=int, default=DEFAULT_BUILD_LIST,
                        help="list of the searches that build a peer's graph (ef_construction, L, "
                        "window): %(default)s")
    parser.add_argument("--tiers", default="dram,emulated:rdma", help="farvec's tiers")
    parser.add_argument("--instructions", default="auto", help="farvec's, as FARVEC_ISA has them, "
                        "each measured: auto,avx2")
    parser.add_argument("--recalls", default="0.90,0.95,0.99")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--lists", default=",".join(map(str, list_lengths())),
                        help="farvec's list lengths to choose from [10 to 320, a 25th apart: peers' "
                        "efforts are found to the last step]")
    parser.add_argument("--widths", default="1,2,4")
    parser.add_argument("--slots", default="4,8,16,24", help="farvec's slots; dram also tries 1")
    parser.add_argument("--core", type=int, default=os.cpu_count() - 1)
    parser.add_argument("--farvec", default=str(ROOT / "build/release/bin/farvec"))
    parser.add_argument("--out", help="write OUT.json and OUT.md")
    parser.add_argument("--build", help=argparse.SUPPRESS)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def install(venv, packages):
    """Makes the virtual environment; answers the reasons of the packages that cannot be had."""
    failures = {}
    make = ROOT / "scripts/python/venv.sh"
    # By itself: this program wants it, also to say that a package cannot be had.
    made = subprocess.run([make, venv, "numpy"], check=False, stdout=subprocess.DEVNULL)
    if made.returncode != 0:
        raise SystemExit(made.returncode)
    for name, package in packages.items():
        done = subprocess.run([make, venv, "numpy", package], check=False, capture_output=True,
                              text=True)
        if done.returncode != 0:
            failures[name] = reason_of(done.stderr)
            print(f"warning: {name}: {failures[name]}", file=sys.stderr)
    return failures


def enter_environment(arguments):
    """Runs this script again with the environment's interpreter, with the peers that are there."""
    names = [name for name in arguments.peers.split(",") if name]
    unknown = set(names) - set(PACKAGES) - set(DISK_PACKAGES)
    if unknown:
        raise SystemExit(f"error: unknown peers {', '.join(sorted(unknown))}")
    on_disk = set(names) & set(DISK_PACKAGES)
    if arguments.hnsw and arguments.memory_budget <= 0:
        raise SystemExit("error: --hnsw wants --memory-budget BYTES, for its buffer")
    if on_disk and (len(names) > 1 or arguments.memory_budget <= 0):
        raise SystemExit(f"error: {', '.join(sorted(on_disk))}: a peer that searches from disk is "
                         "measured alone, with --memory-budget BYTES")
    packages = DISK_PACKAGES if on_disk else PACKAGES
    venv = BUILD / ("peers-venv-laser" if "laser" in on_disk else
                    "peers-venv-disk" if on_disk else "peers-venv")
    failures = install(venv, {name: packages[name] for name in names})
    python = str(venv / "bin" / "python")
    os.environ.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive",
                      FARVEC_PEERS=json.dumps({name: failures.get(name) for name in names}))
    os.execv(python, [python, "-B", __file__, *sys.argv[1:]])


def uses_build_list(workload, name):
    """Whether what is built depends on a list other than the default."""
    return workload.build_list != DEFAULT_BUILD_LIST and "{list}" in peer_classes()[name].label


def cache_folder(workload, name):
    budget = f"-{workload.memory_bytes}" if workload.memory_bytes else ""
    build_list = f"-list{workload.build_list}" if uses_build_list(workload, name) else ""
    return (CACHE / f"{workload.name}-{workload.metric}-{workload.rows}" /
            (name + build_list + budget))


def peer_classes():
    import adapters
    import bit_adapters
    import coded_adapters
    import disk_adapters
    return {**adapters.PEERS, **coded_adapters.PEERS, **disk_adapters.PEERS, **bit_adapters.PEERS}


def new_peer(workload, name, folder):
    return peer_classes()[name](workload, folder)


def build(workload, name):
    """Builds one peer's index into the cache; the folder appears only when it is complete."""
    folder = cache_folder(workload, name)
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    start = time.perf_counter()
    new_peer(workload, name, partial).build()
    seconds = time.perf_counter() - start
    size = sum(path.stat().st_size for path in partial.rglob("*") if path.is_file())
    (partial / "build.json").write_text(json.dumps({"build_seconds": seconds, "bytes": size}))
    partial.rename(folder)


def again(option, name):
    """This command, in a process of its own, for one peer."""
    return [sys.executable, "-B", __file__, *sys.argv[1:], option, name]


def ensure_built(workload, failures):
    """Builds in processes of their own, so that no library keeps its build threads; `failures`
    holds a reason, or None, per peer."""
    for name in [name for name, reason in failures.items() if not reason]:
        if (cache_folder(workload, name) / "build.json").exists():
            continue
        print(f"building {name} ...", file=sys.stderr, flush=True)
        done = subprocess.run(again("--build", name), timeout=BUILD_TIMEOUT_S, check=False, text=True,
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              env=dict(os.environ, OMP_NUM_THREADS=str(os.cpu_count())))
        if done.returncode != 0:
            failures[name] = f"build failed ({done.returncode}): {reason_of(done.stderr)}"
            print(f"{done.stderr}warning: {name}: {failures[name]}", file=sys.stderr)


def start_peers(workload, failures):
    from contenders import PeerContender
    peers = []
    for name in [name for name, reason in failures.items() if not reason]:
        try:
            peers.append(PeerContender(name, cache_folder(workload, name), workload.rows,
                                       again("--worker", name)))
        except PeerError as error:
            failures[name] = f"loading failed: {error}"
            print(f"warning: {name}: {failures[name]}", file=sys.stderr)
    return peers


def run_passes(contenders, targets, passes):
    """Chooses, then measures pass by pass, every contender in turn within a pass. One that fails
    leaves the run, with its reason."""
    chosen, points, failures = {}, {}, {}

    def attempt(contender, call):
        if contender in failures:
            return None
        try:
            return call()
        except PeerError as error:
            failures[contender] = f"searching failed: {error}"
            print(f"warning: {contender.name}: {failures[contender]}", file=sys.stderr)
            return None

    for contender in contenders:
        for target in targets:
            chosen[contender, target] = attempt(contender, lambda: contender.choose(target))
    for number in range(passes):
        print(f"pass {number + 1} of {passes}", file=sys.stderr, flush=True)
        for (contender, target), parameters in chosen.items():
            point = parameters and attempt(contender, lambda: contender.measure(parameters))
            if point:
                points.setdefault((contender, target), []).append(point)
    return chosen, points, failures


def rows_of(chosen, points, failures):
    import report
    rows = []
    for (contender, target) in sorted(chosen, key=lambda key: key[1]):
        row = {"name": contender.name, "label": contender.label, "target": target,
               "tier": contender.tier, "layout": contender.layout,
               "bytes_per_vector": contender.bytes_per_vector,
               "build_seconds": contender.build_seconds}
        if contender in failures:
            row["failure"] = failures[contender]
        elif (contender, target) in points:
            row.update(report.summarise(points[contender, target]))
        rows.append(row)
    return rows


def failed_rows(failures):
    return [{"name": name, "label": name, "tier": None, "layout": None, "target": None,
             "failure": reason,
             "bytes_per_vector": None, "build_seconds": None}
            for name, reason in failures.items() if reason]


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def facts_of(arguments, workload):
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], text=True,
                            capture_output=True, check=False).stdout.strip()
    return {"workload": workload.name, "core": arguments.core, "k": arguments.k,
            "passes": arguments.passes, "build_threads": os.cpu_count(), "commit": commit,
            "cpu": cpu_model(), "host": platform.node(),
            "command": "bench/peers/run.py " + " ".join(sys.argv[1:])}


def write_results(prefix, facts, rows):
    import report
    prefix = pathlib.Path(prefix)
    prefix.parent.mkdir(parents=True, exist_ok=True)
    prefix.with_name(prefix.name + ".json").write_text(
        json.dumps({**facts, "rows": rows}, indent=1) + "\n")
    prefix.with_name(prefix.name + ".md").write_text(report.markdown(facts, rows))


def main():
    arguments = parse_arguments()
    if "FARVEC_PEERS" not in os.environ:
        enter_environment(arguments)
    from vectors import Workload
    workload = Workload.load(arguments.data, arguments.queries, arguments.groundtruth,
                             arguments.metric)
    workload.build_list = arguments.build_list
    workload.memory_bytes = arguments.memory_budget
    if arguments.build:
        build(workload, arguments.build)
        return
    if arguments.worker:
        name = arguments.worker
        worker.serve(new_peer(workload, name, cache_folder(workload, name)),
                     {**PACKAGES, **DISK_PACKAGES, **BIT_PACKAGES}[name], workload, arguments.k)
    failures = json.loads(os.environ["FARVEC_PEERS"])
    ensure_built(workload, failures)
    os.sched_setaffinity(0, {arguments.core})
    contenders = start_peers(workload, failures)
    if arguments.index:
        from contenders import FarvecContender
        contenders += [FarvecContender(index, tier, instructions, arguments, workload)
                       for index, tier, instructions in itertools.product(
                           arguments.index, arguments.tiers.split(","),
                           arguments.instructions.split(","))]
    if arguments.hnsw:
        from contenders import PagedContender
        contenders += [PagedContender(index, int(slots), arguments, workload)
                       for index, slots in itertools.product(arguments.hnsw,
                                                             arguments.hnsw_slots.split(","))]
    targets = [float(target) for target in arguments.recalls.split(",")]
    rows = rows_of(*run_passes(contenders, targets, arguments.passes)) + failed_rows(failures)
    for contender in contenders:
        contender.close()
    import report
    print(report.text(rows))
    print("\n".join(report.verdicts(rows)))
    if arguments.out:
        write_results(arguments.out, facts_of(arguments, workload), rows)


if __name__ == "__main__":
    main()
