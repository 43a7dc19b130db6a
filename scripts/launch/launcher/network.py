"""Network namespaces of launcher "local": one per node, joined by a bridge on this machine."""
import os

from .commands import namespace
from .errors import LaunchError
from .machines import run

SECONDS = 30


def nodes_of(config):
    return [node for node in config.nodes if node.netns]


def make(config):
    """Does nothing when they are there."""
    nodes = nodes_of(config)
    if not nodes:
        return
    if os.geteuid() != 0:
        raise LaunchError(f"{config.file}: node '{nodes[0].name}'.netns: network namespaces need "
                          "root; run as root, or without netns on 127.0.0.1 with a port for each")
    bridge, address = config.local["bridge"], config.local["bridge_address"]
    if not exists(bridge):
        ip("link", "add", bridge, "type", "bridge")
        ip("address", "add", address, "dev", bridge)
        ip("link", "set", bridge, "up")
    for place, node in enumerate(nodes):
        if namespace(config, node) not in namespaces():
            make_one(config, node, f"{bridge[:11]}-v{place}")


def make_one(config, node, outside):
    name, prefix = namespace(config, node), config.local["bridge_address"].partition("/")[2]
    ip("netns", "add", name)
    ip("link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", name)
    ip("link", "set", outside, "master", config.local["bridge"], "up")
    ip("-n", name, "address", "add", f"{node.host}/{prefix}", "dev", "eth0")
    for device in ("lo", "eth0"):
        ip("-n", name, "link", "set", device, "up")


def remove(config):
    """The names of what could not be removed."""
    nodes = nodes_of(config)
    if not nodes:
        return []
    for node in nodes:
        if namespace(config, node) in namespaces():
            ip("netns", "delete", namespace(config, node))
    if exists(config.local["bridge"]):
        ip("link", "delete", config.local["bridge"])
    left = [namespace(config, node) for node in nodes if namespace(config, node) in namespaces()]
    return left + ([config.local["bridge"]] if exists(config.local["bridge"]) else [])


def namespaces():
    return [line.split()[0] for line in ip("netns", "list").splitlines() if line.strip()]


def exists(device):
    return os.path.exists(f"/sys/class/net/{device}")


def ip(*arguments):
    return run(["ip", *arguments], "this machine", SECONDS)
