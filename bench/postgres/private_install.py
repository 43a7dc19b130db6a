"""An installation of PostgreSQL with the extension, of which nothing is installed into the system.

PostgreSQL looks for extensions beside its own program. So the installation is a folder of links to the
system's files, in which the programs are copies and the extension lies too.
"""
import os
import pathlib
import shutil
import subprocess

TIMEOUT_S = 120
# Programs find each other, and the server its files, by where they really lie.
COPIED = {"postgres", "pg_ctl", "pg_rewind", "initdb"}


def config(pg_config, what):
    return subprocess.run([pg_config, f"--{what}"], check=True, capture_output=True, text=True,
                          timeout=TIMEOUT_S).stdout.strip()


def link_entries(source, target, apart=()):
    """Links to what is in a folder, in a folder that is made. Copies programs of COPIED; leaves out
    folders of `apart`."""
    target.mkdir(parents=True, exist_ok=True)
    for path in source.iterdir():
        if path.name in COPIED:
            shutil.copy2(path, target)
        elif path not in apart:
            (target / path.name).symlink_to(path)


def private_install(pg_config, extension, folder):
    """Makes an installation in `folder` that has the extension of the folder `extension` too. Answers
    the folder with bin/ in it."""
    places = {what: pathlib.Path(config(pg_config, what)).resolve()
              for what in ("bindir", "libdir", "pkglibdir", "sharedir")}
    places["extension"] = places["sharedir"] / "extension"
    top = pathlib.Path(os.path.commonpath([places["bindir"].parent, places["sharedir"]]))
    for what, source in places.items():
        if what != "libdir" or source.is_relative_to(places["bindir"].parent):
            link_entries(source, folder / source.relative_to(top), places.values())
    # Wheels have libraries in a folder beside their package, which programs find from where they lie.
    for libraries in places["bindir"].parents[2].glob("*.libs"):
        (folder.parents[1] / libraries.name).symlink_to(libraries)
    for pattern, what in (("*.so*", "pkglibdir"), ("farvec.control", "extension"),
                          ("farvec--*.sql", "extension")):
        for file in extension.glob(pattern):
            shutil.copy2(file, folder / places[what].relative_to(top))
    return folder / places["bindir"].parent.relative_to(top)
