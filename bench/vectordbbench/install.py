#!/usr/bin/env python3
"""Puts farvec's client into an installed VectorDBBench (tried: 2.0.0), or into a clone of it.

    python install.py [FOLDER]     FOLDER: of the package vectordb_bench [the one of this interpreter]

Copies the client to backend/clients/farvec/ and names it where the benchmark names its databases, as
its own guide for a new client has it. Again: nothing happens but the copy.
"""
import importlib.util
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
CLIENT = ("config.py", "cli.py", "farvec.py")
IMPORT = """        if self == DB.Farvec:
            from .farvec.{file} import {name}

            return {name}

"""
UNKNOWN = '        msg = f"Unknown DB: {self.name}"\n'


def insert_before(text, anchor, new, path, times=1):
    """`new` before the anchor, which stands `times` times; of these the first."""
    if text.count(anchor) != times:
        raise SystemExit(f"error: {path} has {text.count(anchor)} times {anchor.strip()!r}, and not "
                         f"{times}: this version of VectorDBBench is not known here")
    place = text.index(anchor)
    return text[:place] + new + text[place:]


def name_client(path):
    text = path.read_text()
    if "DB.Farvec" in text:
        return
    text = insert_before(text, "\n    @property\n    def init_cls", '    Farvec = "Farvec"\n', path)
    head, tail = text.split("    def config_cls", 1)
    head = insert_before(head, UNKNOWN, IMPORT.format(file="farvec", name="Farvec"), path)
    tail = insert_before(tail, UNKNOWN, IMPORT.format(file="config", name="FarvecConfig"), path)
    tail = insert_before(tail, "        # DB.Pinecone, DB.Redis\n",
                         IMPORT.format(file="config", name="FarvecIndexConfig"), path)
    path.write_text(head + "    def config_cls" + tail)


def name_command(path):
    text = path.read_text()
    if "FarvecCollection" in text:
        return
    text = insert_before(text, "from .batch_cli import BatchCli\n",
                         "from ..backend.clients.farvec.cli import FarvecCollection\n", path)
    path.write_text(insert_before(text, "cli.add_command(Zvec)\n",
                                  "cli.add_command(FarvecCollection)\n", path))


def package_folder(arguments):
    if arguments:
        return pathlib.Path(arguments[0])
    found = importlib.util.find_spec("vectordb_bench")
    if found is None:
        raise SystemExit("error: this interpreter has no vectordb_bench: pip install vectordb-bench")
    return pathlib.Path(found.submodule_search_locations[0])


def main(arguments):
    if "-h" in arguments or "--help" in arguments or len(arguments) > 1:
        raise SystemExit(__doc__)
    package = package_folder(arguments)
    clients = package / "backend" / "clients"
    if not (clients / "__init__.py").exists():
        raise SystemExit(f"error: {package} is no vectordb_bench: it has no backend/clients")
    name_client(clients / "__init__.py")
    name_command(package / "cli" / "vectordbbench.py")
    (clients / "farvec").mkdir(exist_ok=True)
    for name in CLIENT:
        shutil.copy(HERE / name, clients / "farvec" / name)
    print(f"farvec's client is in {clients / 'farvec'}")


if __name__ == "__main__":
    main(sys.argv[1:])
