#!/usr/bin/env bash
# Reads of 4 KB among which a share has 128 B (Figure 7 of the second-tier memory study), in turn on
# every tier that this machine has without a device; on a machine with RDMA, as scripts/lab/lab.sh
# gives one, on that:
#   scripts/bench/small_reads.sh build/release/bin small_reads.json
#   scripts/lab/lab.sh run -- scripts/bench/small_reads.sh build/release/bin
# Usage: small_reads.sh BIN_DIR [JSON]
# Environment: MIX shares ["0,0.5,0.9,1"], DEPTH reads in flight [64], PASSES [5], PASS_MS [300].
# Prints a table and writes one JSON object per line to JSON [$FARVEC_LAB_OUT/small_reads.json].
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
[ $# -ge 1 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
BIN="$(cd "$1" && pwd)"
JSON="$(realpath "${2:-${FARVEC_LAB_OUT:?give a file for the JSON lines}/small_reads.json}")"
if [ -n "${FARVEC_LAB_SELF:-}" ]; then
  NODE_FLAGS=(--rdma "$FARVEC_LAB_SELF") TIERS=verbs:unix:m
else
  NODE_FLAGS=(--fabric tcp:127.0.0.1)
  TIERS=shm,emulated:cxl,emulated:nvm,emulated:rdma,emulated:ssd,fabric:tcp:unix:m
fi
source "$HERE/../memory_node.sh"

make_index 9000
start_memory_node
"$BIN/farvec" bench transport --tier "$TIERS" --payload 4096 --inflight "${DEPTH:-64}" \
  --mix "${MIX:-0%,50%,90%,100%}" --passes "${PASSES:-5}" --pass-ms "${PASS_MS:-300}" --json "$JSON"
