"""What launch.sh does: up, status, load, logs and down. Each returns the exit status."""
import sys
import time

from . import checks, loading
from .errors import LaunchError
from .processes import ProcessLauncher
from .slurm import SlurmLauncher
from .systemd import SystemdLauncher

LAUNCHERS = {"ssh": ProcessLauncher, "local": ProcessLauncher, "systemd": SystemdLauncher,
             "slurm": SlurmLauncher}
LOG_LINES = 12
POLL_SECONDS = 0.5


class Actions:
    def __init__(self, config):
        self.config = config
        self.launcher = LAUNCHERS[config.launcher](config)
        # In the order of starting. Compute nodes wait for memory nodes by themselves.
        self.daemons = config.daemons("memory") + config.daemons("compute")

    def up(self):
        return self.wait_until_all_serve(self.start_what_lacks())

    def start_what_lacks(self):
        """The names of those that ran already."""
        states = self.launcher.status(self.daemons)
        ran = {d.name for d in self.daemons if states[d.name].process == "running"}
        if len(ran) < len(self.daemons):
            self.check()
            self.launcher.start(self.daemons)
        return ran

    def check(self):
        """Everything that can be wrong before anything is started."""
        manifest = None if self.config.collection else checks.read_manifest(self.config)
        if manifest:
            checks.check_placement(self.config, manifest)
        facts = self.launcher.facts(self.daemons)
        machines = self.launcher.machines
        checks.check_machines(self.config, [(d, facts[machines.of(d.node)]) for d in self.daemons])
        if manifest:
            checks.check_fit(self.config, manifest, self.launcher.memory_bytes(facts))

    def wait_until_all_serve(self, ran):
        """What ran when `up` began and has ended since is started too."""
        end = time.monotonic() + self.config.limits["start_seconds"]
        ended = []
        while True:
            enough = ended or time.monotonic() > end  # one more look: others may have ended, too
            states = self.launcher.status(self.daemons)
            waiting = [d for d in self.daemons if not states[d.name].serving]
            ended = [d for d in waiting if states[d.name].process != "running"]
            late = ran & {d.name for d in ended}
            if late:
                self.start_what_lacks()
                ran, ended = ran - late, []
                continue
            if not waiting:
                print(f"{len(self.daemons)} daemons serve")
                return 0
            if enough:
                break
            time.sleep(POLL_SECONDS)
        self.tell_failure(waiting, ended, states)
        return 1

    def tell_failure(self, waiting, ended, states):
        for daemon in ended or waiting:
            state = states[daemon.name]
            what = ("has ended" if daemon in ended else
                    f"does not serve after {self.config.limits['start_seconds']} s")
            complain(f"{daemon.name} on {daemon.node.host} {what}"
                     + (f": {state.log_line}" if state.log_line else ""))
            for line in self.launcher.tail(daemon, LOG_LINES).splitlines():
                print(f"  {line}", file=sys.stderr)
        print("the others keep running: `launch.sh down` stops them, `launch.sh up` starts what is "
              "missing", file=sys.stderr)

    def status(self):
        states = self.launcher.status(self.daemons)
        width = max(len(daemon.name) for daemon in self.daemons)
        for daemon in self.daemons:
            state = states[daemon.name]
            told = "serving" if state.serving else state.log_line
            print(f"{daemon.name:{width}}  {daemon.address:21}  {state.process:7}  {state.pid:>7}  "
                  f"{'-' if state.process == 'absent' else told or '-'}")
        return 0 if all(state.serving for state in states.values()) else 3

    def load(self):
        states = self.launcher.status(self.daemons)
        busy = [name for name, state in states.items() if state.process == "running"]
        if busy:
            raise LaunchError(f"{', '.join(busy)} still run with the index as it is; stop them "
                              "with `launch.sh down` first")
        if not self.config.collection:
            loading.place(self.config, checks.read_manifest(self.config))
        loading.copy(self.config, self.launcher.machines)
        return 0

    def logs(self, names, lines):
        chosen = [d for d in self.daemons if not names or d.name in names or d.node.name in names]
        unknown = set(names) - {d.name for d in chosen} - {d.node.name for d in chosen}
        if unknown:
            raise LaunchError(f"no node '{sorted(unknown)[0]}' in {self.config.file}; there are "
                              + ", ".join(d.name for d in self.daemons))
        for daemon in chosen:
            print(f"== {daemon.name}")
            print(self.launcher.tail(daemon, lines))
        return 0

    def down(self):
        """Compute nodes first: they give their leases back. A machine that cannot be reached keeps
        nobody from stopping the others."""
        failed = False
        for step in (lambda: self.stop("compute"), lambda: self.stop("memory"), self.clean):
            try:
                failed |= step()
            except LaunchError as error:
                complain(error)
                failed = True
        if not failed:
            print("nothing is left running")
        return 1 if failed else 0

    def stop(self, role):
        """Whether a daemon is left."""
        left = self.launcher.stop([d for d in self.daemons if d.role == role])
        for name, outcome in left.items():
            if outcome.startswith("left"):
                complain(f"{name} still runs ({outcome}) after SIGTERM, "
                         f"{self.config.limits['stop_seconds']} s and SIGKILL")
            elif outcome == "killed":
                print(f"{name} had to be killed")
        return any(outcome.startswith("left") for outcome in left.values())

    def clean(self):
        left = self.launcher.clean()
        for what in left:
            complain(f"{what} could not be removed")
        return bool(left)


def complain(text):
    print(f"error: {text}", file=sys.stderr)
