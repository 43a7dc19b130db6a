#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy over the sources of the rooms.
#   scripts/tidy.sh [FILE...]    (default: every .cc of the rooms, a folder at a time)
# Uses build/release/compile_commands.json; builds the release preset when it is not there, because
# the generated headers of rpc/ must exist.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$ROOT"

ensure_deps
mkdir -p build
[ -f build/release/compile_commands.json ] || build_preset release

# Clang cannot read what GCC has precompiled, and a file that is compiled with others has no command
# of its own: it gets theirs. Sources of one folder with the same command are checked as one, since
# most of the time goes into headers that they share; a name with "UnifiedSource" has the analyzer
# take what it includes for sources. The largest come first: they take the longest.
mkdir -p build/tidy
mapfile -t rooms < <("$PYTHON" - build/release/compile_commands.json build/tidy <<'END'
import collections, json, os, pathlib, re, sys

def each_file(entry):
    path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
    if "/Unity/unity_" not in path:
        return [entry | {"file": path}]
    sources = re.findall(r'^#include "(.*)"', open(path).read(), re.MULTILINE)
    return [entry | {"file": source, "command": entry["command"].replace(path, source)}
            for source in sources]

def in_common(entry):
    """What two sources that are checked as one agree in; programs stay by themselves."""
    file = entry["file"]
    alone = file if re.match(r"bench/|.*/main\.cc$", os.path.relpath(file, root)) else ""
    command = re.sub(r" -o \S+", "", entry["command"].replace(file, ""))
    return os.path.dirname(file), command, alone

root = os.getcwd() + os.sep
out = pathlib.Path(sys.argv[2]).resolve()
skipped = ("build" + os.sep, "tests" + os.sep)
commands, groups = [], collections.defaultdict(dict)
for entry in json.load(open(sys.argv[1])):
    entry["command"] = re.sub(r" -Winvalid-pch -include \S*cmake_pch\.hxx", "", entry["command"])
    for one in each_file(entry):
        commands.append(one)
        if not os.path.relpath(one["file"], root).startswith(skipped + ("..",)):
            groups[in_common(one)][one["file"]] = one
sizes = {}
for number, sources in enumerate(groups.values()):
    first = next(iter(sources.values()))
    name = first["file"]
    if len(sources) > 1:
        folder = os.path.relpath(os.path.dirname(name), root).replace(os.sep, "_")
        name = str(out / f"UnifiedSource_{folder}_{number}.cc")
        pathlib.Path(name).write_text("".join(
            f'#include "{source}"  // NOLINT(bugprone-suspicious-include)\n' for source in sources))
        commands.append(first | {"file": name,
                                 "command": first["command"].replace(first["file"], name)})
    sizes[name] = sum(len(pathlib.Path(source).read_bytes()) for source in sources)
(out / "compile_commands.json").write_text(json.dumps(commands))
print("\n".join(sorted(sizes, key=sizes.get, reverse=True)))
END
)

# One room's headers are reported with its sources; what the build generates is not ours.
files=("$@")
if [ "$#" -eq 0 ]; then files=("${rooms[@]}"); fi

# GCC knows warnings that clang does not; clang must not stumble over their names.
printf '%s\n' "${files[@]}" |
  xargs -P "$JOBS" -n 1 timeout 600 clang-tidy-14 --quiet -p build/tidy \
    --extra-arg=-Wno-unknown-warning-option --warnings-as-errors='*'
