"""The installed daemons in a private root: as systemd runs them, or without it as units say."""
import subprocess
import time

SECONDS = 60


class Booted:
    """By systemd."""

    def __init__(self, root):
        self.root = root

    def start(self, name):
        self.root.output("systemctl", "start", name)

    def stop(self, name):
        self.root.output("systemctl", "stop", name)

    def show(self, name, key):
        return self.root.output("systemctl", "show", "--value", "-p", key, name).strip()

    def pid(self, name):
        """In the root; 0 when it does not run."""
        return int(self.show(name, "MainPID"))

    def ended_well(self, name):
        states = self.show(name, "ActiveState"), self.show(name, "Result")
        return states == ("inactive", "success")

    def log(self):
        return self.root.output("cat", "/tmp/log")


class ByHand:
    """What ExecStart says, as the unit's user, with the folder that systemd would make."""

    def __init__(self, root):
        self.root, self.processes = root, {}

    def start(self, name):
        lines = self.root.path(f"lib/systemd/system/{name}.service").read_text().splitlines()
        unit = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
        user = unit["User"]
        self.root.output("install", "-d", "-o", user, "-g", user, f"/run/{unit['RuntimeDirectory']}")
        with open(self.root.folder / "given/log", "a") as log:
            self.processes[name] = subprocess.Popen(
                self.root.command("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
                                  *unit["ExecStart"].split()), stdout=log, stderr=log)

    def stop(self, name):
        self.root.output("kill", self.pid(name))
        self.processes[name].wait(timeout=SECONDS)

    def pid(self, name):
        said = self.root.run("pgrep", "-x", "-f", f"/usr/bin/{name} .*").stdout.split()
        return int(said[0]) if said else 0

    def ended_well(self, name):
        return self.processes[name].returncode == 0

    def log(self):
        return (self.root.folder / "given/log").read_text()


def runs_in(root):
    return Booted(root) if root.boot else ByHand(root)


def await_status(root, runs, address):
    """Until the node at the address serves."""
    end = time.monotonic() + SECONDS
    while (said := root.run("farvec", "status", address)).returncode:
        if time.monotonic() > end:
            raise AssertionError(f"{address}: {said.stdout}{said.stderr}\n{runs.log()}")
        time.sleep(0.1)
    return said.stdout
