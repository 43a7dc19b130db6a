#!/usr/bin/env bash
# Searches over the regions of a memory node, read through a device: the same neighbours, reads and
# bytes as in local DRAM, through the tool and through both daemons; after the memory node was killed
# and started again; and of the graph in the inline layout and a cluster index, published in its place.
#   remote_search_test.sh BIN_DIR TIER NODE_FLAG...
# TIER is what the compute node takes, "verbs" or "fabric:tcp"; the flags make a memory node serve it.
set -euo pipefail
BIN="$1"
TIER="$2"
NODE_FLAGS=("${@:3}")
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/memory_node.sh"

search() { "$BIN/farvec" search --queries query.u8bin --k 10 --list 40 "$@"; }

make_index 1000
take_images 2000:2040 query.u8bin
"$BIN/farvec" dataset groundtruth --data base.u8bin --queries query.u8bin --metric l2 --k 10 \
  --out truth.ibin
search --index index --threads 1 --out local.ibin

start_memory_node
search --index index --threads 1 --slots 8 --tier "$TIER:unix:$FOLDER/m" --out remote.ibin
cmp local.ibin remote.ibin || fail "the tool finds other neighbours over $TIER"
"$BIN/farvec" sweep --index index --queries query.u8bin --groundtruth truth.ibin --list 20,40 \
  --slots 1,16 --tier "dram,shm,$TIER:unix:$FOLDER/m" --passes 1 --pass-ms 1 --json sweep.json
[ "$(grep -c . sweep.json)" -eq 12 ] || fail "the sweep has not measured 12 combinations"
[ "$(exact_counts | wc -l)" -eq 2 ] || fail "counts of reads and bytes differ between tiers: $(exact_counts)"

"$BIN/farvec-compute-node" --memory-node "unix:$FOLDER/m" --listen "unix:$FOLDER/c" --tier "$TIER" \
  >compute.log 2>&1 &
COMPUTE=$!
PIDS+=("$COMPUTE")
await_line "serving" compute.log
search --connect "unix:$FOLDER/c" --out daemon.ibin
cmp local.ibin daemon.ibin || fail "the daemons find other neighbours over $TIER"

kill -KILL "$MEMORY"
await_line "is lost" compute.log
search --connect "unix:$FOLDER/c" --out never.ibin && fail "answers without a memory node"
start_memory_node
await_search again.ibin
cmp local.ibin again.ibin || fail "other neighbours after the restart"

# publish_and_search INDEX PUBLICATION SEARCH...: the index in the place of the one before. It is the
# PUBLICATION-th, counted from 1.
publish_and_search() {
  local index="$1" publication="$2"
  shift 2
  "$@" --index "$index" --threads 1 --out local.ibin
  "$BIN/farvec" publish --memory-node "unix:$FOLDER/m" --index "$index" --quiet
  "$@" --index "$index" --threads 1 --slots 4 --tier "$TIER:unix:$FOLDER/m" --out remote.ibin
  cmp local.ibin remote.ibin || fail "the tool finds other neighbours in $index over $TIER"
  local end=$((SECONDS + 60))
  until [ "$(grep -c "answered its last query" compute.log)" -ge "$publication" ]; do
    [ "$SECONDS" -lt "$end" ] || fail "the compute node has not gone over to $index"
    sleep 0.1
  done
  "$@" --connect "unix:$FOLDER/c" --out daemon.ibin
  cmp local.ibin daemon.ibin || fail "the daemons find other neighbours in $index over $TIER"
}
probe() { "$BIN/farvec" search --queries query.u8bin --k 10 --probe 4 "$@"; }
"$BIN/farvec" convert --index index --layout inline --quiet --out inline
# Few rows: a guest computes slowly. 500 of them took 40 s there.
take_images 0:200 few.u8bin
"$BIN/farvec" build cluster --data few.u8bin --metric l2 --clusters 8 --replicas 4 \
  --layout grouped --quiet --out clusters
publish_and_search inline 1 search
publish_and_search clusters 2 probe

kill -TERM "$COMPUTE"
wait "$COMPUTE" || fail "the compute node ended with $?"
kill -TERM "$MEMORY"
wait "$MEMORY" || fail "the memory node ended with $?"
echo "same neighbours and counts over $TIER, through both daemons, after a restart, inline, of clusters"
