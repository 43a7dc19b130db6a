"""Daemons as plain processes, on this machine or over ssh. Every launcher has these four calls."""
import dataclasses

from . import checks, commands, network
from .machines import Machines, in_parallel


@dataclasses.dataclass(frozen=True)
class State:
    process: str    # running, ended, absent; left after a stop that failed
    pid: str
    log_line: str   # the last one that tells the daemon's state; of one that has ended, why

    @property
    def serving(self):
        return self.process == "running" and " info serving " in self.log_line


def states_of(lines):
    """{daemon's name: State} of the agent's `status`."""
    parts = (line.split(" ", 3) for line in lines)
    return {part[0]: State(part[1], part[2], part[3] if len(part) > 3 else "") for part in parts
            if len(part) > 2}


class ProcessLauncher:
    def __init__(self, config):
        self.config = config
        self.machines = Machines(config)

    def grouped(self, daemons):
        """{machine: names of its daemons}"""
        groups = {}
        for daemon in daemons:
            groups.setdefault(self.machines.of(daemon.node), []).append(daemon.name)
        return groups

    def facts(self, daemons):
        """{machine: lines of the agent's `facts`}"""
        return self.machines.everywhere(list(self.grouped(daemons)), "facts", self.config.bin_dir,
                                        self.config.target(),
                                        commands.node_tls(self.config) or "")

    def memory_bytes(self, facts):
        """{machine: available bytes}"""
        return {machine: checks.memory_of(self.config, lines) for machine, lines in facts.items()}

    def start(self, daemons):
        network.make(self.config)
        in_parallel([lambda d=d: self.start_one(d) for d in daemons])

    def start_one(self, daemon):
        self.machines.agent(self.machines.of(daemon.node), "start", daemon.name,
                            *commands.daemon_command(self.config, daemon))

    def status(self, daemons):
        groups = self.grouped(daemons)
        answers = in_parallel([lambda m=m, names=names: self.machines.agent(m, "status", *names)
                               for m, names in groups.items()])
        return states_of(line for lines in answers for line in lines)

    def stop(self, daemons):
        """{daemon's name: stopped, killed or left}; returns when all have ended or the bound has
        passed."""
        seconds = self.config.limits["stop_seconds"]
        groups = self.grouped(daemons)
        answers = in_parallel([
            lambda m=m, names=names: self.machines.agent(m, "stop", seconds, *names,
                                                         more_seconds=seconds)
            for m, names in groups.items()])
        return dict(line.split(" ", 1) for lines in answers for line in lines)

    def clean(self):
        """Ends what an older version of the file has started, then removes namespaces; the names of
        what is still there."""
        machines = list(dict.fromkeys(self.machines.of(node) for node in self.config.nodes))
        seconds = self.config.limits["stop_seconds"]
        left = []
        for machine, names in self.machines.everywhere(machines, "leftovers").items():
            if names:
                lines = self.machines.agent(machine, "stop", seconds, *names, more_seconds=seconds)
                left += [line for line in lines if " left " in line]
        return left + network.remove(self.config)

    def tail(self, daemon, lines):
        return "\n".join(self.machines.agent(self.machines.of(daemon.node), "tail_log", lines,
                                             daemon.name))
