#!/usr/bin/env python3
"""Puts farvec's client into an installed VectorDBBench (tried: 2.0.0), or into a clone of it.

    python install.py [FOLDER]     FOLDER: of the package vectordb_bench [the one of this interpreter]

Copies the client to backend/clients/farvec/ and names it where the benchmark names its databases, as
its own guide for a new client has it; the same with the client "library", for hnswlib and faiss beside
it, which the benchmark has not. Again: nothing happens but the copy.
"""
import dataclasses
import importlib.util
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
IMPORT = """        if self == DB.{db}:
            from .{folder}.{file} import {name}

            return {name}

"""
UNKNOWN = '        msg = f"Unknown DB: {self.name}"\n'


@dataclasses.dataclass(frozen=True)
class Client:
    source: pathlib.Path  # of config.py, cli.py and the client, named as its folder there
    folder: str
    db: str       # what the benchmark calls it, and its classes begin with
    command: str  # the function in cli.py

    @property
    def files(self):
        return ("config.py", "cli.py", f"{self.folder}.py")

    def imported(self, file, name):
        return IMPORT.format(db=self.db, folder=self.folder, file=file, name=name)


CLIENTS = (Client(HERE, "farvec", "Farvec", "FarvecCollection"),
           Client(HERE / "library", "library", "Library", "LibraryIndex"))


def insert_before(text, anchor, new, path, times=1):
    """`new` before the anchor, which stands `times` times; of these the first."""
    if text.count(anchor) != times:
        raise SystemExit(f"error: {path} has {text.count(anchor)} times {anchor.strip()!r}, and not "
                         f"{times}: this version of VectorDBBench is not known here")
    place = text.index(anchor)
    return text[:place] + new + text[place:]


def name_client(path, client):
    text = path.read_text()
    if f"DB.{client.db}:" in text:
        return
    text = insert_before(text, "\n    @property\n    def init_cls",
                         f'    {client.db} = "{client.db}"\n', path)
    head, tail = text.split("    def config_cls", 1)
    head = insert_before(head, UNKNOWN, client.imported(client.folder, client.db), path)
    tail = insert_before(tail, UNKNOWN, client.imported("config", f"{client.db}Config"), path)
    tail = insert_before(tail, "        # DB.Pinecone, DB.Redis\n",
                         client.imported("config", f"{client.db}IndexConfig"), path)
    path.write_text(head + "    def config_cls" + tail)


def name_command(path, client):
    text = path.read_text()
    if client.command in text:
        return
    text = insert_before(text, "from .batch_cli import BatchCli\n",
                         f"from ..backend.clients.{client.folder}.cli import {client.command}\n", path)
    path.write_text(insert_before(text, "cli.add_command(Zvec)\n",
                                  f"cli.add_command({client.command})\n", path))


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
    for client in CLIENTS:
        name_client(clients / "__init__.py", client)
        name_command(package / "cli" / "vectordbbench.py", client)
        (clients / client.folder).mkdir(exist_ok=True)
        for name in client.files:
            shutil.copy(client.source / name, clients / client.folder / name)
        print(f"the client {client.folder} is in {clients / client.folder}")


if __name__ == "__main__":
    main(sys.argv[1:])
