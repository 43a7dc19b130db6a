#!/usr/bin/env bash
# Runs farvec's daemons on the machines of a launch.toml. `launch.sh --help` tells how.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

[ -x "$PYTHON" ] || die "there is no $PYTHON here; install the package 'python3'"
"$PYTHON" -c 'import tomllib' 2>/dev/null || die "$PYTHON is older than 3.11 and cannot read TOML"
export PYTHONPATH="$ROOT/scripts/launch${PYTHONPATH:+:$PYTHONPATH}"
exec "$PYTHON" -B -m launcher "$@"
