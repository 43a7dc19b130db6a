"""Reads a launch.toml (scripts/launch/launch.toml explains every key) and checks what can be
checked without asking a machine."""
import pathlib
import posixpath
import re
import tomllib

from .errors import LaunchError
from .model import Collection, Config, Daemon, Held, Node, Placement
from .tables import Table

LAUNCHERS = ("ssh", "local", "systemd", "slurm")
ROLES = ("memory", "compute")
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.:_-]*[A-Za-z0-9])?")
TIER = re.compile(r"shm|verbs|fabric:[a-z0-9;_]+")
SIZE = re.compile(r"[1-9][0-9]*(KB|MB|GB)?")
MEMORY = re.compile(r"[1-9][0-9]*(KB|MB|GB|TB|KiB|MiB|GiB|TiB)?")


def read_config(file):
    try:
        values = tomllib.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise LaunchError(f"{file}: cannot be read: {error.strerror}; name one with --config FILE "
                          "(scripts/launch/launch.toml is an example)") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LaunchError(f"{file}: not TOML: {error}") from error
    return parse(Table(str(file), "", values))


def parse(top):
    name = top.take("name", str)
    if not NAME.fullmatch(name):
        top.fail("name", f"'{name}' must be small letters, digits and dashes, at most 32")
    launcher = top.choice("launcher", LAUNCHERS)
    bin_dir = absolute(top, "bin_dir")
    run_dir = absolute(top, "run_dir")
    served = read_collection if "collection" in top.values else read_index
    nodes = read_nodes(top, launcher)
    config = Config(
        file=top.file, name=name, launcher=launcher, bin_dir=bin_dir, run_dir=run_dir, nodes=nodes,
        **served(top, nodes, launcher),
        **read_tls(top.table("tls")), **read_roles(top), limits=read_limits(top.table("limits")),
        **read_launchers(top, nodes), sweep=read_sweep(top.table("sweep")))
    top.end()
    return config


def absolute(table, key, default=None):
    path = table.take(key, str) if default is None else table.take(key, str, default)
    if not path.startswith("/") or any(letter in path for letter in "\n\"'%\\$ "):
        table.fail(key, f"'{path}' must be a path from / without spaces, quotes, % and $")
    return posixpath.normpath("/" + path.lstrip("/"))  # however it is spelled


def read_nodes(top, launcher):
    entries = top.take("node", list)
    if not entries or any(type(entry) is not dict for entry in entries):
        top.fail("node", "must be tables: write one [[node]] for each")
    default_ports = read_ports(top.table("ports"))
    nodes = [read_node(Table(top.file, f"node[{place}]", entry), default_ports, launcher)
             for place, entry in enumerate(entries)]
    refuse_duplicates(top, nodes)
    return tuple(nodes)


def require_roles(top, nodes, roles):
    for role in roles:
        if not any(role in node.roles for node in nodes):
            top.fail("node", f"no node has the role '{role}'; add it to the roles of one")


def read_index(top, nodes, launcher):
    """An index, which memory nodes hold."""
    require_roles(top, nodes, ROLES)
    tier = read_transport(top.table("transport"))
    placement, shared = read_placement(top.table("placement"), nodes, launcher)
    return {"tier": tier, "placement": placement, "collection": None, "shared": shared}


def sees(launcher):
    """Whether machines see the files of this one, if nobody says so."""
    return launcher in ("local", "slurm")


def read_collection(top, nodes, launcher):
    """A collection, which compute nodes open that share its folder. Its log and its segments may
    lie on memory nodes."""
    for table in ("placement", "transport"):
        if table in top.values:
            top.fail(table, "is of an index on memory nodes; a [collection] has none: leave it out")
    if top.values.get("compute", {}).get("partial"):
        top.fail("compute.partial", "is of an index on memory nodes; leave it out")
    backing = top.values.get("memory", {}).get("backing")
    if backing in STORED:
        top.fail("memory.backing", f"'{backing}' holds an index; memory nodes of a [collection] "
                 "have \"dram\" or \"shm\"")
    require_roles(top, nodes, ("compute",))
    table = top.table("collection")
    compute = [node for node in nodes if "compute" in node.roles]
    writer = table.take("writer", str, compute[0].name)
    if writer not in [node.name for node in compute]:
        table.fail("writer", f"there is no node '{writer}' with the role 'compute'; there are "
                   + ", ".join(node.name for node in compute))
    collection = Collection(path=absolute(table, "path"), writer=writer,
                            log=read_held(table, "log", nodes),
                            segments=read_held(table, "segment", nodes),
                            changers=read_changers(top, table))
    table.end()
    check_holders(top, collection, nodes)
    require_one_machine(top, collection, nodes, launcher)
    return {"tier": "", "placement": None, "collection": collection, "shared": sees(launcher)}


def read_changers(top, table):
    """By default the certificate that is this machine's."""
    tls = top.values.get("tls", {})
    if not tls.get("directory") and "changers" in table.values:
        table.fail("changers", "are names in certificates, and tls.directory names none; leave it "
                   "out: callers of the writer's machine may change the collection")
    return tuple(table.strings("changers", [tls.get("client", "client")]))


def read_held(table, what, nodes):
    """Of memory nodes: WHAT_nodes and what goes with them, which is refused without."""
    memory = [node.name for node in nodes if "memory" in node.roles]
    names = table.strings(f"{what}_nodes", [])
    for name in names:
        if name not in memory:
            table.fail(f"{what}_nodes", f"'{name}' is no node with the role 'memory'; there "
                       f"{'are ' + ', '.join(memory) if memory else 'is none'}")
        if names.count(name) > 1:
            table.fail(f"{what}_nodes", f"'{name}' is there twice; name each node once")
    if not names:
        for key in ("tier", "copies", "bytes"):
            if f"{what}_{key}" in table.values:
                table.fail(f"{what}_{key}", f"is of memory nodes; name them in {what}_nodes, or "
                           "leave it out")
    held = Held(nodes=tuple(names), tier=table.take(f"{what}_tier", str, "shm"),
                copies=table.number(f"{what}_copies", 0, 0, len(names)),
                bytes=table.take(f"{what}_bytes", str, "1GiB"))
    if not TIER.fullmatch(held.tier):
        table.fail(f"{what}_tier", f"'{held.tier}' is none of verbs, fabric:PROVIDER (fabric:tcp), "
                   "shm")
    if not MEMORY.fullmatch(held.bytes):
        table.fail(f"{what}_bytes", f"'{held.bytes}' is no size; write \"64GiB\"")
    return held


def check_holders(top, collection, nodes):
    """Every memory node holds something, and can be read in one way of each device."""
    held = (collection.log, collection.segments)
    for node in nodes:
        ways = {one.tier for one in held if node.name in one.nodes}
        if "memory" in node.roles and not ways:
            top.fail(f"node '{node.name}'", "holds nothing of the [collection]; name it in "
                     "log_nodes or segment_nodes, or take the role 'memory' away")
        if len([way for way in ways if way.startswith("fabric:")]) > 1:
            top.fail(f"node '{node.name}'", f"has one libfabric provider, not {', '.join(ways)}; "
                     "give log_tier and segment_tier the same")


def require_one_machine(top, collection, nodes, launcher):
    """Who opens the collection, or loads its segments, sees its folder; shm is of one machine."""
    if launcher == "local":
        return
    log = collection.log.nodes if collection.log.tier == "shm" else ()
    here = [node for node in nodes if "compute" in node.roles]
    here += [node for node in nodes if node.name in (*log, *collection.segments.nodes)]
    for node in here:
        if node.reach != here[0].reach:
            top.fail(f"node '{node.name}'", f"is on {node.reach}, node '{here[0].name}' on "
                     f"{here[0].reach}: all that open a collection, and memory nodes that load its "
                     "segments, run on its machine; only log_nodes may be elsewhere")


def read_ports(table):
    ports = {"memory": table.number("memory", 7700, 1, 65535),
             "compute": table.number("compute", 7711, 1, 65535)}
    table.end()
    return ports


def read_node(table, default_ports, launcher):
    name = table.take("name", str)
    if not NAME.fullmatch(name):
        table.fail("name", f"'{name}' must be small letters, digits and dashes, at most 32")
    table.where = f"node '{name}'"
    host = host_name(table, "host")
    roles = table.strings("roles")
    for role in roles:
        if role not in ROLES or roles.count(role) > 1:
            table.fail("roles", f"{roles!r} must be of {', '.join(ROLES)}, each once")
    if not roles:
        table.fail("roles", f"is empty; give one or both of {', '.join(ROLES)}")
    node = Node(name=name, host=host, roles=tuple(roles),
                data_address=host_name(table, "data_address", host),
                reach=host_name(table, "reach", host), netns=table.take("netns", bool, False),
                ports={role: table.number(f"{role}_port", default_ports[role], 1, 65535)
                       for role in ROLES})
    if node.netns and launcher != "local":
        table.fail("netns", f"network namespaces are for launcher \"local\", not \"{launcher}\"")
    table.end()
    return node


def host_name(table, key, default=None):
    host = table.take(key, str) if default is None else table.take(key, str, default)
    if not HOST.fullmatch(host):
        table.fail(key, f"'{host}' is no host name and no address")
    return host


def refuse_duplicates(top, nodes):
    seen, taken = {}, {}
    for node in nodes:
        if node.name in seen:
            top.fail(f"node '{node.name}'", "there are two nodes of this name; rename one")
        seen[node.name] = node
        for role in node.roles:
            address = Daemon(node, role).address
            if address in taken:
                top.fail(f"node '{node.name}'", f"its {role} daemon and {taken[address]} both "
                         f"listen on {address}; give one another host or {role}_port")
            taken[address] = f"the {role} daemon of node '{node.name}'"


def read_transport(table):
    tier = table.take("tier", str)
    if not TIER.fullmatch(tier):
        table.fail("tier", f"'{tier}' is none of verbs, fabric:PROVIDER (fabric:tcp), shm")
    table.end()
    return tier


def read_placement(table, nodes, launcher):
    index = absolute(table, "index")
    memory = [node.name for node in nodes if "memory" in node.roles]
    names = table.strings("memory_nodes", memory)
    for name in names:
        if name not in memory:
            table.fail("memory_nodes", f"'{name}' is no node with the role 'memory'; there are "
                       f"{', '.join(memory)}")
        if names.count(name) > 1:
            table.fail("memory_nodes", f"'{name}' is there twice; a replica on the same node as "
                       "another copy is lost with it, so name each node once")
    shared = table.take("shared", bool, sees(launcher))
    placement = Placement(index=index, target=absolute(table, "target", index),
                          memory_nodes=tuple(names), replicas=table.number("replicas", 1, 1, 4),
                          extent=table.take("extent_bytes", str, ""))
    if shared and placement.target != placement.index:
        table.fail("target", "differs from placement.index while placement.shared is true; leave "
                   "one of them out")
    if placement.extent and not SIZE.fullmatch(placement.extent):
        table.fail("extent_bytes", f"'{placement.extent}' is no size; write \"16MB\"")
    check_replicas(table, placement, [node for node in nodes if node.name in names], launcher)
    table.end()
    return placement, shared


def check_replicas(table, placement, nodes, launcher):
    if not nodes:
        table.fail("memory_nodes", "is empty; name at least one node, or leave it out for all")
    if placement.replicas > len(nodes):
        table.fail("replicas", f"{placement.replicas} copies do not fit on {len(nodes)} memory "
                   f"node{'s' if len(nodes) > 1 else ''}: two would be on the same node; give at "
                   f"most {len(nodes)}")
    machines = {}
    for node in nodes:
        if launcher != "local" and placement.replicas > 1 and node.reach in machines:
            table.fail("replicas", f"memory nodes '{machines[node.reach]}' and '{node.name}' are "
                       f"both on {node.reach}: a replica would be lost with the first copy; use "
                       "another machine, or replicas = 1")
        machines[node.reach] = node.name


def read_tls(table):
    insecure = table.take("insecure", bool, False)
    directory = absolute(table, "directory", "") if "directory" in table.values else ""
    table.known.append("directory")
    client = table.take("client", str, "client")
    if insecure == bool(directory):
        table.fail("directory", "name the folder that scripts/tls/make-certs.sh has filled, or set "
                   "tls.insecure = true on a network that you trust; one of the two")
    table.end()
    return {"insecure": insecure, "tls": {"directory": directory, "client": client} if directory
            else {}}


# Backings that keep an index beyond their process, on a device or a file of each memory node.
STORED = ("devdax", "pmem")


def read_backing(memory):
    backing = memory.choice("backing", ("dram", "shm", *STORED), "dram")
    path = memory.take("path", str, "")
    if (backing in STORED) != bool(path):
        memory.fail("path", f"name what 'farvec devices format' has made, such as /dev/dax0.0, with "
                    f"backing = \"devdax\" or \"pmem\", and with no other; backing is '{backing}'")
    return {"backing": backing, "path": path}


def read_roles(top):
    memory, compute = top.table("memory"), top.table("compute")
    values = {
        "memory": {**read_backing(memory),
                   "options": memory.strings("options", [])},
        "compute": {"threads": compute.number("threads", 1, 1, 1024),
                    "slots": compute.number("slots", 16, 1, 1024),
                    "partial": compute.take("partial", bool, False),
                    "options": compute.strings("options", [])}}
    memory.end()
    compute.end()
    return values


def read_limits(table):
    limits = {"start_seconds": table.number("start_seconds", 300, 1, 86400),
              "stop_seconds": table.number("stop_seconds", 20, 1, 3600),
              "sweep_seconds": table.number("sweep_seconds", 3600, 1, 864000),
              "command_seconds": table.number("command_seconds", 60, 1, 3600)}
    table.end()
    return limits


def read_launchers(top, nodes):
    ssh, local, systemd, slurm = (top.table(name) for name in LAUNCHERS)
    values = {
        "ssh": {"options": ssh.strings("options", []), "user": ssh.take("user", str, ""),
                "pdsh": ssh.take("pdsh", bool, True)},
        "local": {"bridge": local.take("bridge", str, ""),
                  "bridge_address": local.take("bridge_address", str, "")},
        "systemd": {"user": systemd.take("user", bool, False),
                    "remote": systemd.take("remote", bool, True)},
        "slurm": {"partition": slurm.take("partition", str, ""),
                  "options": slurm.strings("options", [])}}
    for table in (ssh, local, systemd, slurm):
        table.end()
    check_bridge(local, values["local"], nodes)
    return values


def check_bridge(table, local, nodes):
    if not any(node.netns for node in nodes):
        return
    if not re.fullmatch(r"[a-z][a-z0-9]{0,14}", local["bridge"]):
        table.fail("bridge", "nodes with netns = true need the name of a bridge to make, small "
                   "letters and digits, at most 15")
    if not re.fullmatch(r"[0-9.]+/[0-9]+", local["bridge_address"]):
        table.fail("bridge_address", "nodes with netns = true need this machine's address on the "
                   "bridge, for example 10.77.0.254/24")


def read_sweep(table):
    sweep = {"queries": table.take("queries", str, ""),
             "groundtruth": table.take("groundtruth", str, ""),
             "k": table.number("k", 10, 1, 65536), "list": table.numbers("list", [20, 40, 80], 1),
             "width": table.numbers("width", [1], 1), "passes": table.number("passes", 3, 1, 1000),
             "clients": table.number("clients", 1, 1, 256)}
    for length in sweep["list"]:
        if length < sweep["k"]:
            table.fail("list", f"{length} is below sweep.k = {sweep['k']}; a list holds at least k")
    table.end()
    return sweep
