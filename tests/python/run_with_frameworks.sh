#!/usr/bin/env bash
# Runs a test with an interpreter that has LangChain and LlamaIndex, which it makes the first time.
# Where PyPI is out of reach it says so, and skips (exit status 77).
#   tests/python/run_with_frameworks.sh FILE      PYTHONPATH says where the built package is
set -euo pipefail
ROOT="$(cd "$(dirname "$0")/../.." && pwd)"
FOLDER="$ROOT/build/frameworks-venv"
PACKAGES=(numpy==2.4.6 pytest==9.2.0 langchain-core==1.8.3 langchain-tests==1.1.9
          llama-index-core==0.14.25)

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
# Modules are compiled when they are imported: pip would compile all of them, ten seconds long.
interpreter="$(timeout 240 "$ROOT/scripts/python/venv.sh" "$FOLDER" --no-compile "${PACKAGES[@]}" 2>"$log")" || {
  cat "$log"
  echo "skipped: LangChain and LlamaIndex cannot be installed from PyPI"
  exit 77
}
PYTHONPYCACHEPREFIX="$FOLDER/cache" "$interpreter" -m pytest -c "$ROOT/tests/python/pytest.ini" \
  -o asyncio_default_fixture_loop_scope=function "$1"
