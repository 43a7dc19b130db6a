"""What the tests of the packages share."""
import os
import pathlib
import shutil
import subprocess
import unittest

from farvec_tool import BIN

ROOT = pathlib.Path(__file__).parents[2]
MAKE = ROOT / "scripts/packages/make.sh"
MADE = pathlib.Path(os.environ["FARVEC_PACKAGES_DIR"])
DAEMONS = ("farvec-memory-node", "farvec-compute-node")
EXTENSION = f"postgresql-{os.environ['FARVEC_PG_MAJOR']}-farvec" if os.environ.get("FARVEC_PG_MAJOR") else None
NAMES = ("farvec", *DAEMONS, "libfarvec-dev", "libfarvec0", *((EXTENSION,) if EXTENSION else ()))
NEEDED = ("dpkg-deb", "dpkg-shlibdeps", "cpack")


def needs_dpkg():
    for program in NEEDED:
        if not shutil.which(program):
            raise unittest.SkipTest(f"{program} is not here: no Debian packages")


def run(*command, seconds=300, **options):
    return subprocess.run(list(map(str, command)), text=True, capture_output=True,
                          timeout=seconds, check=False, stdin=subprocess.DEVNULL, **options)


def output(*command, **options):
    """Its standard output; it has to end well."""
    done = run(*command, **options)
    if done.returncode:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def project_version():
    """As the tool says it: "farvec 0.1.0 (commit)"."""
    return output(BIN / "farvec", "--version").split()[1]


def made(name):
    """The package file of that name."""
    architecture = output("dpkg", "--print-architecture").strip()
    return MADE / f"{name}_{project_version()}_{architecture}.deb"
