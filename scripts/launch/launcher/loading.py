"""Brings an index to its memory nodes: `farvec place` here, then rsync to machines that do not see
this one's files."""
import subprocess

from . import commands
from .errors import LaunchError

PLACE_SECONDS = 3600
COPY_SECONDS = 24 * 3600


def place(config, manifest):
    placement = config.placement
    if len(placement.memory_nodes) == 1 and "placement" not in manifest:
        return
    command = [commands.tool(config), "place", "--index", placement.index, "--nodes",
               str(len(placement.memory_nodes)), "--replicas", str(placement.replicas)]
    if placement.extent:
        command += ["--extent-bytes", placement.extent]
    call(command, PLACE_SECONDS)


def copy(config, machines):
    """Nothing when the file system is shared. A collection is where it is."""
    if config.shared:
        return
    for machine in dict.fromkeys(machines.of(d.node) for d in config.daemons("memory")):
        send(machines, machine, config.placement.target, f"{config.placement.index}/")
    if not config.tls:
        return
    folder = config.tls["directory"]
    for machine in dict.fromkeys(machines.of(node) for node in config.nodes):
        machines.agent(machine, "make_run_dir")
        send(machines, machine, f"{config.run_dir}/tls", f"{folder}/node.crt",
             f"{folder}/node.key", f"{folder}/ca.crt")


def send(machines, machine, target, *sources):
    """rsync of SOURCES to the folder TARGET of MACHINE. Files appear whole. Nothing in TARGET is
    deleted: it may be another folder than was meant."""
    there = f"{machines.target(machine)}:{target}/" if machine else f"{target}/"
    print(f"copying to {there}")
    call(["rsync", "-a", "--mkpath", "-e", machines.remote_shell(), *sources, there],
         COPY_SECONDS)


def call(command, seconds):
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, timeout=seconds, check=True)
    except FileNotFoundError as error:
        raise LaunchError(f"there is no '{command[0]}' here; install it") from error
    except subprocess.SubprocessError as error:
        raise LaunchError(f"this failed: {' '.join(command)} ({error})") from error
