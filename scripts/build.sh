#!/usr/bin/env bash
# Builds one preset (default: release) after installing what it needs.
#   scripts/build.sh [release|debug|asan|tsan|fuzz]
# Binaries are in build/<preset>/bin.
set -euo pipefail
source "$(dirname "$0")/common.sh"

preset="${1:-release}"
case "$preset" in
  release | debug | asan | tsan | fuzz) ;;
  -h | --help) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) die "unknown preset '$preset' (release, debug, asan, tsan or fuzz)" ;;
esac

ensure_deps
mkdir -p "$ROOT/build"
build_preset "$preset"
