#!/usr/bin/env bash
# Two lab guests with 1 ms of delay on the wire: searches that overlap their reads answer at least
# three times as many queries as one at a time (five and more where the processor does not bound
# them, docs/results/004-rdma-softroce.md), over verbs and over libfabric's tcp, with the same
# neighbours. Two ends with different path MTUs use the smaller one, and searches go on after the
# network device of either was down.
#   wire_test.sh BIN_DIR
set -euo pipefail
SCRIPTS="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../scripts" && pwd)"
LAB="$SCRIPTS/../build/lab"
trap '"$SCRIPTS/lab/lab.sh" down' EXIT
"$SCRIPTS/lab/lab.sh" up --guests 2 --delay 1ms

ROWS=2000 QUERIES=16 LIST=10 SLOTS=1,32 PASSES=1 PASS_MS=3000 \
  "$SCRIPTS/bench/delayed_wire.sh" "$1"
/usr/bin/python3 -B "$SCRIPTS/../tests/rdma/pipelining.py" \
  "$LAB/guest1/share/out/delayed_wire.json" 3

TMPDIR="$LAB" "$SCRIPTS/../tests/rdma/link_faults.sh" "$1"
