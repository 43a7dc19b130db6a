#!/usr/bin/env bash
# How soon a follower sees what was inserted, and how long an insert takes, when a collection's log
# is on memory nodes of this machine or of a guest with soft-RoCE:
#   scripts/bench/freshness.sh VECTORS [--nodes N] [--bin FOLDER] [-- OPTIONS of collection_freshness]
#   scripts/lab/lab.sh run -- scripts/bench/freshness.sh VECTORS --nodes 1 -- --rows 2000
# Over shm and fabric:tcp, and over verbs where FARVEC_LAB_SELF names an RDMA device. Prints a JSON
# object per tier.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

[ $# -gt 0 ] || { sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
DATA="$(readlink -f "$1")" NODES=3 BIN="$ROOT/build/release/bin"
shift
while [ $# -gt 0 ]; do
  case "$1" in
    --nodes) NODES="$2"; shift 2 ;;
    --bin) BIN="$(readlink -f "$2")"; shift 2 ;;
    --) shift; break ;;
    *) die "no option '$1': see the head of ${BASH_SOURCE[0]}" ;;
  esac
done

source "$ROOT/scripts/memory_node.sh"

# The nodes' addresses, separated by commas, in ADDRESSES.
start() {
  ADDRESSES=""
  local i flags
  for ((i = 0; i < NODES; i++)); do
    flags=(--fabric tcp:127.0.0.1)
    [ -z "${FARVEC_LAB_SELF:-}" ] ||
      flags+=(--rdma "$FARVEC_LAB_SELF" --rdma-port $((18600 + 50 * i)))
    rm -f "n$i.log"
    "$BIN/farvec-memory-node" --listen "unix:$FOLDER/n$i" --log-bytes 256MiB "${flags[@]}" \
      >"n$i.log" 2>&1 &
    PIDS+=($!)
    ADDRESSES+="${ADDRESSES:+,}unix:$FOLDER/n$i"
  done
  for ((i = 0; i < NODES; i++)); do await_line "serving" "n$i.log"; done
}

stop() {
  kill "${PIDS[@]}"
  wait
  PIDS=()
}

TIERS=(shm fabric:tcp)
[ -z "${FARVEC_LAB_SELF:-}" ] || TIERS+=(verbs)
for tier in "${TIERS[@]}"; do
  start
  printf '{"tier":"%s","nodes":%d,"measured":' "$tier" "$NODES"
  "$BIN/collection_freshness" --data "$DATA" --folder set --log-nodes "$ADDRESSES" \
    --log-tier "$tier" "$@" | tr -d '\n'
  printf '}\n'
  stop
  rm -rf set
done
