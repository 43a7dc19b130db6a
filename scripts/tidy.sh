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

# Clang cannot read what GCC has precompiled.
mkdir -p build/tidy
sed 's/ -Winvalid-pch -include [^ ]*cmake_pch\.hxx//' build/release/compile_commands.json \
  >build/tidy/compile_commands.json

# One room's headers are reported with its sources; what the build generates is not ours.
if [ "$#" -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <("$PYTHON" - build/release/compile_commands.json <<'END'
import json, os, sys
root = os.getcwd() + os.sep
skipped = ("build" + os.sep, "tests" + os.sep)
for entry in json.load(open(sys.argv[1])):
    path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
    relative = path[len(root):] if path.startswith(root) else "build" + os.sep
    if not relative.startswith(skipped):
        print(relative)
END
  )
fi

# GCC knows warnings that clang does not; clang must not stumble over their names.
printf '%s\n' "${files[@]}" | sort -u |
  xargs -P "$JOBS" -n 1 timeout 600 clang-tidy-14 --quiet -p build/tidy \
    --extra-arg=-Wno-unknown-warning-option --warnings-as-errors='*'
