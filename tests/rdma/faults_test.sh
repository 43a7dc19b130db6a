#!/usr/bin/env bash
# Faults while a compute node searches over RDMA: a limit on locked memory is too low, the memory
# node is killed. Every search finds what it finds in local DRAM or is refused in time, and searches
# go on when the fault is over. Needs an RDMA device at FARVEC_LAB_SELF (scripts/lab/lab.sh run
# gives it).
#   faults_test.sh BIN_DIR
set -euo pipefail
BIN="$1"
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
NODE_FLAGS=(--rdma "$FARVEC_LAB_SELF")
source "$HERE/../../scripts/memory_node.sh"
source "$HERE/search_loop.sh"

# with_little_memory COMMAND...: may lock 64 KiB, whoever runs it.
with_little_memory() {
  (ulimit -l 64 && timeout 60 setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "$@")
}

says_the_limit() {
  local words="limit on locked memory is 65536 bytes (raise it with ulimit -l"
  grep -q "$words" "$1" || fail "$(cat "$1")"
}

make_index 1000
take_images 1000:1040 query.u8bin

with_little_memory "$BIN/farvec-memory-node" --index index --listen "unix:$FOLDER/n" \
  "${NODE_FLAGS[@]}" >error.txt 2>&1 && fail "serves without enough locked memory"
says_the_limit error.txt
start_memory_node
with_little_memory "$BIN/farvec" bench transport --tier "verbs:unix:$FOLDER/m" --payload 4096 \
  --inflight 64 >error.txt 2>&1 && fail "reads without enough locked memory"
says_the_limit error.txt

start_compute_node "unix:$FOLDER/m"
start_searches
await_outcome same
kill -KILL "$MEMORY"
await_outcome refused
start_memory_node
await_outcome same
end_searches
