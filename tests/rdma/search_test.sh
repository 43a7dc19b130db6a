#!/usr/bin/env bash
# Searches over RDMA: the same neighbours as in local DRAM, through the tool and through both daemons;
# and after the memory node was killed and started again. Needs an RDMA device at FARVEC_LAB_SELF
# (scripts/lab/lab.sh run gives both).
#   search_test.sh BIN_DIR
set -euo pipefail
BIN="$1"
IMAGES=/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz
FOLDER="$(mktemp -d)"
PIDS=()
trap 'kill -KILL "${PIDS[@]}" 2>/dev/null || true; rm -rf "$FOLDER"' EXIT
cd "$FOLDER"

fail() {
  echo "FAILED: $*"
  tail -n 20 ./*.log
  exit 1
}

# await_line TEXT FILE: at most 60 s.
await_line() {
  local end=$((SECONDS + 60))
  until grep -q "$1" "$2" 2>/dev/null; do
    [ "$SECONDS" -lt "$end" ] || fail "no '$1' in $2"
    sleep 0.1
  done
}

start_memory_node() {
  rm -f memory.log
  "$BIN/farvec-memory-node" --index index --listen "unix:$FOLDER/m" --rdma "$FARVEC_LAB_SELF" \
    --lease-seconds 2 >memory.log 2>&1 &
  MEMORY=$!
  PIDS+=("$MEMORY")
  await_line "serving" memory.log
}

search() { "$BIN/farvec" search --queries query.u8bin --k 10 --list 40 "$@"; }

"$BIN/farvec" dataset sample "$IMAGES" base.u8bin --rows 0:2000 --quiet
"$BIN/farvec" dataset sample "$IMAGES" query.u8bin --rows 2000:2040 --quiet
"$BIN/farvec" build graph --data base.u8bin --metric l2 --degree 16 --list 32 --quiet --out index
search --index index --threads 1 --out local.ibin

start_memory_node
search --index index --threads 1 --slots 8 --tier "verbs:unix:$FOLDER/m" --out verbs.ibin
cmp local.ibin verbs.ibin || fail "the tool finds other neighbours over verbs"

"$BIN/farvec-compute-node" --memory-node "unix:$FOLDER/m" --listen "unix:$FOLDER/c" --tier verbs \
  >compute.log 2>&1 &
COMPUTE=$!
PIDS+=("$COMPUTE")
await_line "serving" compute.log
search --connect "unix:$FOLDER/c" --out daemon.ibin
cmp local.ibin daemon.ibin || fail "the daemons find other neighbours over verbs"

kill -KILL "$MEMORY"
await_line "is lost" compute.log
search --connect "unix:$FOLDER/c" --out never.ibin && fail "answers without a memory node"
start_memory_node
end=$((SECONDS + 60))
until search --connect "unix:$FOLDER/c" --out again.ibin 2>/dev/null; do
  [ "$SECONDS" -lt "$end" ] || fail "not attached again"
  sleep 0.5
done
cmp local.ibin again.ibin || fail "other neighbours after the restart"

kill -TERM "$COMPUTE"
wait "$COMPUTE" || fail "the compute node ended with $?"
kill -TERM "$MEMORY"
wait "$MEMORY" || fail "the memory node ended with $?"
echo "same neighbours over verbs, through both daemons, and after a restart"
