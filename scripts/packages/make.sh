#!/usr/bin/env bash
# Makes the Debian packages farvec, farvec-memory-node, farvec-compute-node, libfarvec0, libfarvec-dev
# and postgresql-N-farvec of this tree, for the system that it runs on (docs/operate/packages.md).
#   scripts/packages/make.sh [--build FOLDER] [OUT]
# OUT is the folder for the .deb files (default: build/packages). Programs and libraries are built
# first; with --build they are those of a configured build tree (default: build/release).
set -euo pipefail
source "$(dirname "$0")/../common.sh"

usage() { sed -n '2,6s/^# \{0,1\}//p' "$0"; }

BUILD=""
OUT=""
while [ "$#" -gt 0 ]; do
  case "$1" in
    -h | --help) usage; exit 0 ;;
    --build) BUILD="${2:-}"; shift "$(($# > 1 ? 2 : 1))"
      [ -e "$BUILD/CMakeCache.txt" ] || die "--build: '$BUILD' is no configured build tree" ;;
    -*) echo "error: unknown option '$1'" >&2; usage >&2; exit 2 ;;
    *) [ -z "$OUT" ] || { echo "error: more than one folder: '$OUT', '$1'" >&2; usage >&2; exit 2; }
      OUT="$1"; shift ;;
  esac
done
OUT="${OUT:-$ROOT/build/packages}"

for program in cpack dpkg-deb dpkg-shlibdeps strip gzip; do
  command -v "$program" >/dev/null ||
    die "$program is not here: scripts/install-deps.sh installs it on Debian and Ubuntu"
done
mkdir -p "$OUT"
OUT="$(cd "$OUT" && pwd)"

if [ -z "$BUILD" ]; then
  ensure_deps --programs
  mkdir -p "$ROOT/build"
  BUILD="$ROOT/build/release"
  build_preset release packaged
else
  timeout --foreground 3600 cmake --build "$BUILD" -j "$JOBS" --target packaged
fi

# The time of the commit is that of the files in the packages.
SOURCE_DATE_EPOCH="$(git -C "$ROOT" log -1 --format=%ct 2>/dev/null || date +%s)"
export SOURCE_DATE_EPOCH
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cpack --config "$BUILD/CPackConfig.cmake" -G DEB -B "$work" >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  die "cpack could not make the packages (the lines above)"
}
for package in "$work"/*.deb; do
  mv "$package" "$OUT/"
  echo "$OUT/${package##*/}"
done
