"""Daemons as plain systemd units, on this machine or over ssh."""
import shlex

from . import commands
from .machines import in_parallel
from .processes import ProcessLauncher, states_of

UNIT = """[Unit]
Description=farvec {role} node {node} of {name}
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
ExecStart={command}
Restart=on-failure
RestartSec=2
KillSignal=SIGTERM
TimeoutStopSec={stop_seconds}
LimitMEMLOCK=infinity
LimitNOFILE=65536
StandardOutput=append:{log}
StandardError=append:{log}
"""


def unit_text(config, daemon):
    command = shlex.join(commands.daemon_command(config, daemon))
    return UNIT.format(role=daemon.role, node=daemon.node.name, name=config.name,
                       command=command.replace("%", "%%"),
                       stop_seconds=config.limits["stop_seconds"],
                       log=f"{config.run_dir}/{daemon.name}.log")


class SystemdLauncher(ProcessLauncher):
    def __init__(self, config):
        super().__init__(config)
        self.scope = "user" if config.systemd["user"] else "system"

    def unit(self, daemon):
        return f"farvec-{self.config.name}-{daemon.name}.service"

    def each(self, daemons, action, *arguments, more_seconds=0):
        """The agent's lines of ACTION SCOPE NAME UNIT for each daemon."""
        answers = in_parallel([
            lambda d=d: self.machines.agent(self.machines.of(d.node), action, self.scope, d.name,
                                            self.unit(d), *[a(d) for a in arguments],
                                            more_seconds=more_seconds)
            for d in daemons])
        return [line for lines in answers for line in lines]

    def start(self, daemons):
        self.each(daemons, "unit_start", lambda daemon: unit_text(self.config, daemon))

    def status(self, daemons):
        return states_of(self.each(daemons, "unit_status"))

    def stop(self, daemons):
        lines = self.each(daemons, "unit_stop",
                          more_seconds=self.config.limits["stop_seconds"])
        return dict(line.split(" ", 1) for line in lines)

    def clean(self):
        return []
