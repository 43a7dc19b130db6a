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
    names = config.placement.memory_nodes
    options = ["--index", config.placement.target, "--backing", config.memory["backing"],
               "--grant", f"{config.run_dir}/{daemon.name}.grant", "--quiet"]
    if len(names) > 1:
        options += ["--node", str(names.index(daemon.node.name))]
    if config.memory["backing"] == "shm":
        options += ["--backing-path", f"{config.name}-{daemon.node.name}"]
    elif config.memory["path"]:
        options += ["--backing-path", config.memory["path"]]
    if config.tier == "verbs":
        options += ["--rdma", daemon.node.data_address]
    elif config.tier != "shm":
        options += ["--fabric", f"{config.tier.partition(':')[2]}:{daemon.node.data_address}"]
    return options


def compute_options(config, daemon):
    options = ["--threads", str(config.compute["threads"]),
               "--slots", str(config.compute["slots"])]
    if config.collection:
        follow = [] if daemon.node.name == config.collection.writer else ["--follow"]
        return [*options, "--collection", config.collection.path, *follow]
    addresses = ",".join(node.address for node in config.daemons("memory"))
    options += ["--memory-node", addresses, "--tier", config.tier,
                "--attach-seconds", str(config.limits["start_seconds"])]
    if config.compute["partial"]:
        options.append("--partial")
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
