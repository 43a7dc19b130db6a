#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy over the sources of the rooms.
#   scripts/tidy.sh [FILE...]    (default: every .cc of the rooms)
# Uses build/release/compile_commands.json; builds the release preset when it is not there, because
# the generated headers of rpc/ must exist.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$ROOT"

ensure_deps
mkdir -p build
[ -f build/release/compile_commands.json ] || build_preset release

# Clang cannot read what GCC has precompiled, and a file that is compiled with others has no command
# of its own: it gets theirs.
mkdir -p build/tidy
mapfile -t rooms < <("$PYTHON" - build/release/compile_commands.json build/tidy/compile_commands.json <<'END'
import json, os, re, sys

def each_file(entry):
    path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
    if "/Unity/unity_" not in path:
        return [entry | {"file": path}]
    sources = re.findall(r'^#include "(.*)"', open(path).read(), re.MULTILINE)
    return [entry | {"file": source, "command": entry["command"].replace(path, source)}
            for source in sources]

root = os.getcwd() + os.sep
skipped = ("build" + os.sep, "tests" + os.sep)
commands = []
for entry in json.load(open(sys.argv[1])):
    entry["command"] = re.sub(r" -Winvalid-pch -include \S*cmake_pch\.hxx", "", entry["command"])
    commands += each_file(entry)
json.dump(commands, open(sys.argv[2], "w"))
for entry in commands:
    relative = os.path.relpath(entry["file"], root)
    if not relative.startswith(skipped + ("..",)):
        print(relative)
END
)

# One room's headers are reported with its sources; what the build generates is not ours.
files=("$@")
if [ "$#" -eq 0 ]; then files=("${rooms[@]}"); fi

# GCC knows warnings that clang does not; clang must not stumble over their names.
printf '%s\n' "${files[@]}" | sort -u |
  xargs -P "$JOBS" -n 1 timeout 600 clang-tidy-14 --quiet -p build/tidy \
    --extra-arg=-Wno-unknown-warning-option --warnings-as-errors='*'
