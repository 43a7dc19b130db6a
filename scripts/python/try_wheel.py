"""Builds, opens and searches a small index with the package that is installed, and says which
libraries the process has loaded that are neither the wheel's nor part of every Linux."""
# Of Python itself, which bring libraries of their own.
import bz2  # noqa: F401
import ctypes  # noqa: F401
import hashlib  # noqa: F401
import lzma  # noqa: F401
import pathlib
import re
import tempfile
import xml.parsers.expat  # noqa: F401

import numpy as np


def loaded():
    """The libraries that the process has mapped."""
    return {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}


BEFORE = loaded()

import farvec  # noqa: E402

# What the manylinux policies take for granted.
EVERYWHERE = re.compile(r"(ld-linux-.*|lib(c|m|dl|rt|pthread|util|gcc_s|stdc\+\+|resolv|z)\.so.*)$")

rows = np.random.default_rng(1).normal(size=(2000, 32)).astype(np.float32)
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "index"
    farvec.build_graph(rows, path, progress=False)
    for tier in ("dram", "emulated:rdma", "ssd"):
        with farvec.open(path, tier=tier) as index:
            assert (index.search(rows[:100], k=1, list=50).ids[:, 0] == np.arange(100)).all(), tier
    farvec.write_vectors(pathlib.Path(folder) / "rows.hdf5", rows)
    assert (farvec.read_vectors(pathlib.Path(folder) / "rows.hdf5") == rows).all()
    try:
        farvec.open("grpc://127.0.0.1:1")
    except farvec.Unavailable:
        pass

foreign = sorted(file for file in loaded() - BEFORE
                 if "site-packages" not in file and "lib-dynload" not in file
                 and not EVERYWHERE.match(pathlib.Path(file).name))
print(f"farvec {farvec.__version__} works; libraries of the system beside the C library: "
      f"{', '.join(foreign) or 'none'}")
