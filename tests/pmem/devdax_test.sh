#!/usr/bin/env bash
# An index on a memory device in devdax mode: the same neighbours, reads and bytes as in DRAM, by
# loads from the device, from CXL memory as a NUMA node, and, on the NVDIMM, through a memory node
# that keeps it there, also after that was killed. Few commands: a guest takes two seconds to start
# one. What bad input gets is tested on files (tests/tool/devices_test.py).
#   devdax_test.sh BIN_DIR nvdimm|cxl      in a guest of scripts/lab/lab.sh --pmem
set -euo pipefail
BIN="$1"
case "$2" in
  nvdimm) DEVICE="${FARVEC_LAB_NVDIMM:?}" KIND=NVDIMM ;;
  cxl) DEVICE="${FARVEC_LAB_CXL:?}" KIND=CXL ;;
esac
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/memory_node.sh"

search() { "$BIN/farvec" search --queries query.u8bin --k 10 --list 40 "$@"; }
devices() { "$BIN/farvec" devices "$@"; }

"$BIN/farvec" devices list | tee list.txt
grep -q "^$(basename "$DEVICE") *$KIND *devdax" list.txt || fail "$DEVICE is not listed as $KIND"

make_index 1000
take_images 2000:2040 query.u8bin
"$BIN/farvec" dataset groundtruth --data base.u8bin --queries query.u8bin --metric l2 --k 10 \
  --out truth.ibin
search --index index --threads 1 --out local.ibin

FARVEC_DEVDAX="$DEVICE" "$BIN/transport_test" --gtest_filter=MappedRegionTest.MapsDevdax | tail -n 1
devices format "$DEVICE"
devices load --index index "$DEVICE" --quiet
devices check "$DEVICE" --quiet | grep -q "1 whole, 0 damaged" || fail "what was loaded is damaged"
search --index index --threads 1 --slots 8 --tier "devdax:$DEVICE" --out device.ibin
cmp local.ibin device.ibin || fail "other neighbours on $DEVICE"
# same_counts TIER: as in DRAM, at two lists.
same_counts() {
  rm -f sweep.json
  "$BIN/farvec" sweep --index index --queries query.u8bin --groundtruth truth.ibin --list 20,40 \
    --slots 1,16 --tier "dram,$1" --passes 1 --pass-ms 1 --line-ns 10 --json sweep.json
  [ "$(grep -c . sweep.json)" -eq 8 ] || fail "the sweep has not measured 8 combinations"
  [ "$(exact_counts | wc -l)" -eq 2 ] || fail "counts differ between tiers: $(exact_counts)"
}
same_counts "devdax:$DEVICE"
if [ "$KIND" = CXL ]; then
  # The device as memory of the system, which is a NUMA node of its own. Nothing brings it back.
  daxctl reconfigure-device --mode=system-ram "$(basename "$DEVICE")" | tee ram.json
  same_counts "numa:$(sed -n 's/.*"target_node":\([0-9]*\).*/\1/p' ram.json)"
  exit 0
fi

NODE_FLAGS=(--backing devdax --backing-path "$DEVICE")
start_memory_node
grep -q "attached where they lie" memory.log || fail "what lay there was loaded again"
"$BIN/farvec-compute-node" --memory-node "unix:$FOLDER/m" --listen "unix:$FOLDER/c" \
  >compute.log 2>&1 &
PIDS+=($!)
await_line "serving" compute.log
search --connect "unix:$FOLDER/c" --out daemon.ibin
cmp local.ibin daemon.ibin || fail "the daemons find other neighbours"
kill -KILL "$MEMORY"
await_line "is lost" compute.log
start_memory_node
await_search again.ibin
cmp local.ibin again.ibin || fail "other neighbours after the restart"
grep "attached where they lie" memory.log
