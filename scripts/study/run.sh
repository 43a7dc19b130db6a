#!/usr/bin/env bash
# Redraws the figures of the papers behind farvec beside what this machine measures, into docs/study/.
#   scripts/study/run.sh --quick               small subsets, under 20 minutes on two processors
#   scripts/study/run.sh --full                the whole sets, hours
#   scripts/study/run.sh --only 004-F8,F9      some items; --list names them
# It goes on where it was ended. scripts/study/run.sh --help has every option;
# docs/measure/measuring.md says more.
set -euo pipefail
source "$(dirname "$0")/../common.sh"
PYTHONPATH="$ROOT/scripts${PYTHONPATH:+:$PYTHONPATH}" exec "$PYTHON" -B -m study "$@"
