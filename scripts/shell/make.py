#!/usr/bin/env python3
"""Writes completion for bash, zsh and fish and man pages of the built programs, from their --help.

    scripts/shell/make.py BIN OUT     as the build does (cmake/FarvecShell.cmake)
"""
import argparse
import pathlib
import subprocess

import completion
import manual
from describe import describe

PROGRAMS = ("farvec", "farvec-memory-node", "farvec-compute-node")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path, help="folder of the programs")
    parser.add_argument("out", type=pathlib.Path, help="folder to write to: bash/, zsh/, fish/, man1/")
    options = parser.parse_args()
    said = subprocess.run([options.bin / "farvec", "--version"], text=True, capture_output=True,
                          timeout=60, check=True).stdout
    version = " ".join(said.split()[:2])
    described = [describe(options.bin / name, (name,)) for name in PROGRAMS]
    commands = [one for program in described for one in program]
    write(options.out / "bash" / "farvec", completion.bash(commands))
    write(options.out / "zsh" / "_farvec", completion.zsh(commands))
    for program in described:
        write(options.out / "fish" / f"{program[0].name}.fish", completion.fish(program))
    for one in commands:
        write(options.out / "man1" / f"{manual.page_name(one.path)}.1", manual.page(one, commands, version))


if __name__ == "__main__":
    main()
