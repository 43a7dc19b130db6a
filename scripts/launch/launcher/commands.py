"""The command line of each daemon, and of the tool."""
import pathlib


def daemon_command(config, daemon):
    options = memory_options if daemon.role == "memory" else compute_options
    command = [f"{config.bin_dir}/farvec-{daemon.role}-node", "--listen", daemon.address,
               *options(config, daemon), *tls_options(config, node_tls(config), "node"),
               *getattr(config, daemon.role)["options"]]
    if config.insecure:
        command.append("--insecure")
    if daemon.node.netns:
        command = ["ip", "netns", "exec", namespace(config, daemon.node), *command]
    return command


def namespace(config, node):
    return f"farvec-{config.name}-{node.name}"


def memory_options(config, daemon):
    held = collection_bytes if config.collection else index_options
    options = [*held(config, daemon), "--backing", config.memory["backing"],
               "--grant", f"{config.run_dir}/{daemon.name}.grant", "--quiet"]
    if config.memory["backing"] == "shm":
        options += ["--backing-path", f"{config.name}-{daemon.node.name}"]
    elif config.memory["path"]:
        options += ["--backing-path", config.memory["path"]]
    for tier in tiers_of(config, daemon):
        if tier == "verbs":
            options += ["--rdma", daemon.node.data_address]
        elif tier != "shm":
            options += ["--fabric", f"{tier.partition(':')[2]}:{daemon.node.data_address}"]
    return options


def index_options(config, daemon):
    names = config.placement.memory_nodes
    node = ["--node", str(names.index(daemon.node.name))] if len(names) > 1 else []
    return ["--index", config.placement.target, *node]


def collection_bytes(config, daemon):
    """A memory node's share of a collection, which the other daemons' certificate may write. Its
    segments are loaded from the collection's folder."""
    options = []
    for what, held in (("log", config.collection.log), ("segment", config.collection.segments)):
        if daemon.node.name in held.nodes:
            options += [f"--{what}-bytes", held.bytes]
    if daemon.node.name in config.collection.segments.nodes:
        options += ["--load-from", config.collection.path]
    return options + ([] if config.insecure else ["--publisher", "node"])


def tiers_of(config, daemon):
    """How the memory node is read, each way once."""
    if not config.collection:
        return [config.tier]
    held = (config.collection.log, config.collection.segments)
    return sorted({one.tier for one in held if daemon.node.name in one.nodes})


def compute_options(config, daemon):
    options = ["--threads", str(config.compute["threads"]),
               "--slots", str(config.compute["slots"])]
    if config.collection:
        return options + collection_options(config, daemon)
    addresses = ",".join(node.address for node in config.daemons("memory"))
    options += ["--memory-node", addresses, "--tier", config.tier,
                "--attach-seconds", str(config.limits["start_seconds"])]
    if config.compute["partial"]:
        options.append("--partial")
    return options


def collection_options(config, daemon):
    """The writer decides how many copies there are."""
    follows = daemon.node.name != config.collection.writer
    options = ["--collection", config.collection.path, *(["--follow"] if follows else [])]
    memory = {memory.node.name: memory.address for memory in config.daemons("memory")}
    for what, held in (("log", config.collection.log), ("segment", config.collection.segments)):
        if held.nodes:
            options += [f"--{what}-nodes", ",".join(memory[name] for name in held.nodes),
                        f"--{what}-tier", held.tier]
        if held.copies and not follows:
            options += [f"--{what}-copies", str(held.copies)]
    if memory:
        options += ["--attach-seconds", str(config.limits["start_seconds"])]
    followers = [other.address for other in config.daemons("compute") if other != daemon]
    if not follows and not config.insecure:
        for name in config.collection.changers:
            options += ["--changer", name]
    if followers and not follows:
        options += ["--followers", ",".join(followers)]
    return options


def node_tls(config):
    """The folder of certificates that the nodes see."""
    return config.tls.get("directory") if config.shared else f"{config.run_dir}/tls"


def tls_options(config, directory, name):
    if config.insecure:
        return []
    return ["--tls-cert", f"{directory}/{name}.crt", "--tls-key", f"{directory}/{name}.key",
            "--tls-ca", f"{directory}/ca.crt"]


def tool(config):
    """The tool on this machine: beside the daemons, or where this copy of the project built it."""
    here = pathlib.Path(__file__).parents[3] / "build/release/bin/farvec"
    there = pathlib.Path(config.bin_dir) / "farvec"
    return str(there if there.exists() or not here.exists() else here)
