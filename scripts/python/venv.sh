#!/usr/bin/env bash
# Makes a virtual environment with packages of PyPI, or adds them to one, and prints its interpreter.
# What an earlier call with the same packages installed is left as it is.
#   scripts/python/venv.sh                        build/python-venv, what the Python package is built
#                                                 and tested with
#   scripts/python/venv.sh FOLDER PACKAGE...      another one
set -euo pipefail
source "$(dirname "$0")/../common.sh"

[ $# -ne 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ $# -gt 1 ] ||
  set -- "$ROOT/build/python-venv" nanobind==3.1.0 numpy==2.4.6 pytest==9.2.0 hypothesis==6.170.17 \
    faiss-cpu==1.15.1 mkdocs==1.6.1 pymdown-extensions==12.3 mypy==2.4.1
FOLDER="$1"
shift
STAMP="$FOLDER/packages"

# reason FILE: its last line that says something
reason() { grep -v '^[[:space:]]*$' "$1" | tail -n 1 || echo "no reason given"; }

if ! grep -qxF "$*" "$STAMP" 2>/dev/null; then
  log="$(mktemp)"
  trap 'rm -f "$log"' EXIT
  echo "making $FOLDER with $*" >&2
  mkdir -p "$(dirname "$FOLDER")"
  [ -x "$FOLDER/bin/python" ] || "$PYTHON" -m venv "$FOLDER" >"$log" 2>&1 ||
    die "no virtual environment $FOLDER (is python3-venv installed?): $(reason "$log")"
  timeout --foreground 1200 "$FOLDER/bin/python" -m pip install --quiet --disable-pip-version-check \
    "$@" >"$log" 2>&1 ||
    die "pip cannot install $* from PyPI into $FOLDER: $(reason "$log")"
  echo "$*" >>"$STAMP"
fi
echo "$FOLDER/bin/python"
