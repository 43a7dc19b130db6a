"""Runs agent.sh where nodes are: on this machine, over ssh, or on many machines through pdsh."""
import concurrent.futures
import os
import pathlib
import shlex
import shutil
import subprocess

from .errors import LaunchError

AGENT = (pathlib.Path(__file__).parent / "agent.sh").read_text(encoding="utf-8")
# After the file's own options: ssh takes the first of each.
SSH = ("-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5",
       "-o", "ServerAliveCountMax=3")
PARALLEL = 32


class Machines:
    """The machines of a configuration. A machine is the name that ssh knows it by, or "" for this
    one."""

    def __init__(self, config):
        self.config = config
        self.remote = (config.launcher == "ssh" or
                       config.launcher == "systemd" and config.systemd["remote"])

    def of(self, node):
        return node.reach if self.remote else ""

    def agent(self, machine, action, *arguments, more_seconds=0):
        """The lines that the agent prints; a failure is an error that names the machine. The action
        itself may take MORE_SECONDS."""
        command = ["sh", "-c", AGENT, "agent", action, self.config.run_dir, *map(str, arguments)]
        return run(self.reach(machine, command), machine or "this machine",
                   self.config.limits["command_seconds"] + more_seconds).splitlines()

    def everywhere(self, machines, action, *arguments):
        """{machine: lines} of the same action on each; pdsh asks them all at once."""
        if self.uses_pdsh(machines):
            return self.through_pdsh(machines, action, arguments)
        return dict(zip(machines, in_parallel(
            [lambda m=m: self.agent(m, action, *arguments) for m in machines])))

    def uses_pdsh(self, machines):
        # A colon in a host, as of an IPv6 address, means something else to it.
        return (self.remote and self.config.ssh["pdsh"] and len(machines) > 1 and
                not any(":" in machine for machine in machines) and shutil.which("pdsh"))

    def reach(self, machine, command):
        if not machine:
            return command
        return [*self.ssh(), self.target(machine), shlex.join(command)]

    def ssh(self):
        return ["ssh", *self.config.ssh["options"], *SSH]

    def target(self, machine):
        user = self.config.ssh["user"]
        return f"{user}@{machine}" if user else machine

    def remote_shell(self):
        """What rsync takes as -e."""
        return shlex.join(self.ssh())

    def through_pdsh(self, machines, action, arguments):
        command = shlex.join(["sh", "-c", AGENT, "agent", action, self.config.run_dir,
                              *map(str, arguments)])
        environment = {**os.environ, "PDSH_SSH_ARGS_APPEND": shlex.join(self.ssh()[1:])}
        user = ["-l", self.config.ssh["user"]] if self.config.ssh["user"] else []
        text = run(["pdsh", "-S", "-R", "ssh", "-f", str(PARALLEL), "-w", ",".join(machines), *user,
                    command.replace("%", "%%")], ", ".join(machines),
                   self.config.limits["command_seconds"], environment)
        told = [line.partition(": ") for line in text.splitlines()]
        # It leaves out a domain that all machines share.
        return {machine: [rest for label, _, rest in told
                          if label in (machine, machine.partition(".")[0])]
                for machine in machines}


def run(command, where, seconds, environment=None):
    """The standard output of COMMAND; an error has its last words."""
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=seconds, check=False, env=environment)
    except subprocess.TimeoutExpired as error:
        raise LaunchError(f"{where}: {command[0]} did not end within {seconds} s") from error
    except FileNotFoundError as error:
        raise LaunchError(f"{where}: there is no '{command[0]}' here; install it") from error
    if result.returncode != 0:
        words = (result.stderr.strip() or result.stdout.strip()).splitlines()[-5:]
        what = "ssh" if command[0] == "ssh" and result.returncode == 255 else "the command"
        raise LaunchError(f"{where}: {what} failed with status {result.returncode}: "
                          + "\n  ".join(words))
    return result.stdout


def in_parallel(calls):
    """Their results in order; the first error of any, after all have ended."""
    if not calls:
        return []
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(PARALLEL, len(calls))) as pool:
        futures = [pool.submit(call) for call in calls]
    return [future.result() for future in futures]
