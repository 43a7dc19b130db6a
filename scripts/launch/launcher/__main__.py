"""The command line of launch.sh."""
import argparse
import fcntl
import sys

from .actions import Actions
from .config import read_config
from .errors import LaunchError
from .sweep import Sweep

LOCKS = []
DESCRIPTION = """Runs farvec's memory and compute nodes on the machines of a launch.toml.

  load    place the index over the memory nodes, and copy it (and the certificates) to machines that
          do not see this one's files
  up      check everything, start what does not run, wait until every daemon serves
  status  one line for each daemon; exit status 0 when all serve, else 3
  sweep   search through all compute nodes at once: JSON lines and a figure
  logs    the last lines of the daemons' logs
  down    SIGTERM, SIGKILL after a bound, and a check that nothing is left; can be repeated"""

EPILOG = """Example, on one machine without rights (ports on 127.0.0.1):
  cp scripts/launch/launch.toml lab.toml        # every key is explained there
  scripts/launch/launch.sh load --config lab.toml
  scripts/launch/launch.sh up --config lab.toml
  scripts/launch/launch.sh sweep --config lab.toml --out figures
  scripts/launch/launch.sh down --config lab.toml

launcher = "ssh" starts plain processes on other machines, "systemd" units, "slurm" one batch job
with a step per role, "local" processes here. A file that is wrong starts nothing and says why.
docs/operate/launch.md tells more."""


def parse(arguments):
    parser = argparse.ArgumentParser(prog="launch.sh", description=DESCRIPTION, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name in ("up", "status", "load", "sweep", "logs", "down"):
        action = actions.add_parser(name)
        action.add_argument("--config", default="launch.toml", help="default: launch.toml here")
        if name == "sweep":
            action.add_argument("--out", help="folder for the results (default: RUN_DIR/sweep)")
        if name == "logs":
            action.add_argument("names", nargs="*", help="nodes or daemons (m0, m0.memory)")
            action.add_argument("--lines", type=int, default=20, help="of each (default 20)")
    return parser.parse_args(arguments)


def lock(path):
    """Until this program ends: one at a time changes what runs."""
    LOCKS.append(open(path, "rb"))
    try:
        fcntl.flock(LOCKS[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise LaunchError(f"{path}: another launch.sh works with this file; wait for it") from error


def run(options):
    config = read_config(options.config)
    if options.action == "sweep":
        return Sweep(config, options.out or f"{config.run_dir}/sweep").run()
    if options.action in ("up", "load", "down"):
        lock(options.config)
    actions = Actions(config)
    if options.action == "logs":
        return actions.logs(options.names, options.lines)
    return getattr(actions, options.action)()


def main():
    options = parse(sys.argv[1:])
    try:
        return run(options)
    except LaunchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; `launch.sh status` tells what runs", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
