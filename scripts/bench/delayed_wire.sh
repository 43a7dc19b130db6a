#!/usr/bin/env bash
# What pipelining gives when the wire has a latency: `farvec sweep` in one lab guest reads from a
# memory node in the other, over RDMA verbs and over libfabric's tcp, with one search at a time and
# with many, in turn. netem delays what each guest sends.
# Usage: delayed_wire.sh BIN_DIR
# Environment: DELAY of each direction [1ms], ROWS of Fashion-MNIST in the index [9000], QUERIES
# [16], LIST [20], SLOTS searches in flight per core [1,8,32], PASSES [5], PASS_MS [2000].
# Prints the sweep's table; the JSON lines are build/lab/guest1/share/out/delayed_wire.json.
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
[ $# -eq 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
BIN="$(cd "$1" && pwd)"
LAB="$(cd "$HERE/../.." && pwd)/build/lab"
mkdir -p "$LAB"
export TMPDIR="$LAB" # the guests have a /tmp of their own
NODE_FLAGS=()
source "$HERE/../memory_node.sh"

make_index "${ROWS:-9000}"
take_images "9000:$((9000 + ${QUERIES:-16}))" query.u8bin
"$BIN/farvec" dataset groundtruth --data base.u8bin --queries query.u8bin --metric l2 --k 10 \
  --out truth.ibin
"$HERE/../lab/lab.sh" run --guests 2 --delay "${DELAY:-1ms}" --timeout 560 -- \
  "$HERE/delayed_wire_guest.sh" "$BIN" --list "${LIST:-20}" --slots "${SLOTS:-1,8,32}" \
  --passes "${PASSES:-5}" --pass-ms "${PASS_MS:-2000}"
