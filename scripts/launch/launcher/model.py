"""What a launch.toml says, once it has been read and checked."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Node:
    name: str
    host: str           # where daemons listen
    roles: tuple
    data_address: str   # where reads go
    reach: str          # what ssh and Slurm call the machine
    netns: bool
    ports: dict         # role -> port


@dataclasses.dataclass(frozen=True)
class Daemon:
    """One process: a node in one of its roles."""
    node: Node
    role: str

    @property
    def name(self):
        return f"{self.node.name}.{self.role}"

    @property
    def address(self):
        host = f"[{self.node.host}]" if ":" in self.node.host else self.node.host
        return f"{host}:{self.node.ports[self.role]}"


@dataclasses.dataclass(frozen=True)
class Placement:
    index: str          # here
    target: str         # where memory nodes read it
    memory_nodes: tuple
    replicas: int
    extent: str         # "" leaves it to the tool


@dataclasses.dataclass(frozen=True)
class Held:
    """What memory nodes hold of a collection: its log, or its segments."""
    nodes: tuple        # in the order in which all daemons name them; empty: the folder has it
    tier: str
    copies: int         # 0: what the daemons take by default
    bytes: str          # of each memory node


@dataclasses.dataclass(frozen=True)
class Collection:
    path: str
    writer: str         # node that changes it; the others follow
    log: Held
    segments: Held
    changers: tuple     # names in certificates that may change it


@dataclasses.dataclass(frozen=True)
class Config:
    file: str
    name: str
    launcher: str
    bin_dir: str
    run_dir: str
    nodes: tuple
    tier: str           # "" with a collection
    placement: Placement     # of an index, or None
    collection: Collection   # or None
    shared: bool        # the machines see this one's files
    tls: dict           # empty: insecure
    insecure: bool
    memory: dict
    compute: dict
    limits: dict
    ssh: dict
    local: dict
    systemd: dict
    slurm: dict
    sweep: dict

    def daemons(self, role):
        """Of one role, in the order of the file; memory nodes in the order of the placement."""
        if role == "memory" and self.placement:
            return [Daemon(self.node(name), role) for name in self.placement.memory_nodes]
        return [Daemon(node, role) for node in self.nodes if role in node.roles]

    def target(self):
        """The folder that daemons open, where they run."""
        return self.collection.path if self.collection else self.placement.target

    def node(self, name):
        return next(node for node in self.nodes if node.name == name)
