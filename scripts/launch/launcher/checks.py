"""What has to hold before anything is started: the index is there, is placed as the file says, and
fits the machines that hold it."""
import json
import pathlib
import subprocess

from .errors import LaunchError

HEADER_BYTES = 4096
PROGRAMS = {"memory": "farvec-memory-node", "compute": "farvec-compute-node"}


def read_manifest(config):
    path = pathlib.Path(config.placement.index) / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(manifest["regions"], list):
            raise KeyError("regions")
        return manifest
    except OSError as error:
        raise LaunchError(f"{config.file}: placement.index: {path}: {error.strerror}; build an "
                          "index with `farvec build graph --out DIR`, or name another") from error
    except (ValueError, KeyError, TypeError) as error:
        raise LaunchError(f"{config.file}: placement.index: {path} is no manifest of an index "
                          f"({error}); build it again") from error


def index_bytes(manifest):
    return sum(region["payload_bytes"] + HEADER_BYTES for region in manifest["regions"])


def node_bytes(manifest):
    """What each memory node of the manifest's placement holds, by its number."""
    placement = manifest.get("placement")
    if not placement:
        return [index_bytes(manifest)]
    held = [HEADER_BYTES * len(manifest["regions"])] * placement["nodes"]
    for region, placed in zip(manifest["regions"], placement["regions"]):
        end = region["payload_bytes"] + HEADER_BYTES
        for extent in reversed(placed["extents"]):
            for copy in extent["copies"]:
                held[copy["node"]] += end - extent["begin"]
            end = extent["begin"]
    return held


def check_fit(config, manifest, available):
    """AVAILABLE: {machine: bytes}; several memory nodes may share a machine. What a device has left
    the memory node says itself."""
    if config.memory["path"]:
        return
    nodes, wanted = {}, {}
    for daemon, held in zip(config.daemons("memory"), node_bytes(manifest)):
        machine = daemon.node.reach if daemon.node.reach in available else ""
        nodes.setdefault(machine, []).append(daemon.node.name)
        wanted[machine] = wanted.get(machine, 0) + held
    for machine, names in nodes.items():
        if wanted[machine] > available[machine]:
            raise LaunchError(
                f"{config.file}: placement.index: {config.placement.index} does not fit: memory "
                f"node{'s' if len(names) > 1 else ''} {', '.join(names)} on "
                f"{machine or 'this machine'} would hold {size(wanted[machine])}, and "
                f"{size(available[machine])} are available there; add memory nodes, lower "
                "placement.replicas, or free memory")


def size(count):
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} TB"


def check_placement(config, manifest):
    """The manifest's placement is the file's."""
    placement = manifest.get("placement", {})
    nodes = placement.get("nodes", 1)
    replicas = placement.get("replicas", 1)
    wanted = (len(config.placement.memory_nodes), config.placement.replicas)
    if (nodes, replicas) != wanted:
        raise LaunchError(
            f"{config.file}: placement: the index {config.placement.index} is placed on {nodes} "
            f"node(s) with {replicas} copies, the file says {wanted[0]} with {wanted[1]}; run "
            "`launch.sh load`")
    for region in placement.get("regions", []):
        for extent in region["extents"]:
            copies = [copy["node"] for copy in extent["copies"]]
            if len(set(copies)) < len(copies):
                raise LaunchError(
                    f"{config.file}: placement.index: in {config.placement.index}/manifest.json a "
                    f"replica of the extent at {extent['begin']} is on the same node as another "
                    f"copy, {copies}; run `launch.sh load` to place the index again")


def check_machines(config, facts):
    """FACTS: (daemon, lines of the agent's `facts` where it runs) for each daemon."""
    sum_here = "" if config.collection else "index " + checksum(
        pathlib.Path(config.placement.index) / "manifest.json")
    for daemon, lines in facts:
        if f"program {PROGRAMS[daemon.role]}" not in lines:
            raise LaunchError(f"{config.file}: bin_dir: node {daemon.node.name} has no program "
                              f"{config.bin_dir}/{PROGRAMS[daemon.role]}; install farvec there")
        if daemon.role == "memory" and sum_here and sum_here not in lines:
            raise LaunchError(f"{config.file}: placement.target: node {daemon.node.name} has "
                              f"another index in {config.placement.target}, or none; run "
                              "`launch.sh load`")
        if opens_collection(config, daemon) and "collection" not in lines:
            raise LaunchError(f"{config.file}: collection.path: node {daemon.node.name} has no "
                              f"collection in {config.collection.path}; make it there with "
                              "`farvec collection create`")
        lacks = [line.partition(" ")[2] for line in lines if line.startswith("lacks ")]
        if config.tls and lacks:
            raise LaunchError(f"{config.file}: tls.directory: node {daemon.node.name} cannot read "
                              f"{', '.join(lacks)}; make them with scripts/tls/make-certs.sh, and "
                              "copy them with `launch.sh load` where file systems are not shared")


def opens_collection(config, daemon):
    """Whether it reads the collection's folder: all but nodes that hold its log alone."""
    if not config.collection:
        return False
    return daemon.role == "compute" or daemon.node.name in config.collection.segments.nodes


def checksum(path):
    with open(path, "rb") as file:
        return subprocess.run(["cksum"], stdin=file, capture_output=True, text=True, timeout=60,
                              check=True).stdout.strip()


def memory_of(config, lines):
    """Bytes that a memory node can take, of the agent's `facts`."""
    facts = dict(line.split(None, 1) for line in lines if " " in line)
    free = int(facts.get("available", 0)) * 1024
    if config.memory["backing"] == "dram":
        free += int(facts.get("huge", 0)) * int(facts.get("hugesize", 0)) * 1024
    return free
