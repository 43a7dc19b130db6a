#!/usr/bin/env bash
# Makes the virtual environment that the Python package is built and tested with, once, and prints
# its interpreter. Its packages come from PyPI; what is there already is left.
#   scripts/python/venv.sh [FOLDER]    (default: build/python-venv)
set -euo pipefail
source "$(dirname "$0")/../common.sh"

PACKAGES=(nanobind==3.1.0 numpy==2.4.6 pytest==9.2.0 hypothesis==6.170.17)
FOLDER="${1:-$ROOT/build/python-venv}"
STAMP="$FOLDER/packages"

if [ "$(cat "$STAMP" 2>/dev/null)" != "${PACKAGES[*]}" ]; then
  rm -rf "$FOLDER"
  mkdir -p "$(dirname "$FOLDER")"
  "$PYTHON" -m venv "$FOLDER" >&2 || die "no virtual environment: is python3-venv installed?"
  timeout --foreground 600 "$FOLDER/bin/pip" install --quiet --disable-pip-version-check \
    "${PACKAGES[@]}" >&2 || die "pip cannot install ${PACKAGES[*]} (from PyPI)"
  echo "${PACKAGES[*]}" >"$STAMP"
fi
echo "$FOLDER/bin/python"
