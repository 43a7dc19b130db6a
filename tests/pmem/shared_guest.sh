#!/usr/bin/env bash
# What shared_test.sh runs in two guests that share a CXL device: guest 0 writes it, guest 1 reads.
#   shared_guest.sh BIN_DIR FOLDER load|read|publish      FOLDER has the indexes `first` and `second`
set -euo pipefail
BIN="$1"
DATA="$2"
DEVICE="${FARVEC_LAB_CXL:?}"
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/memory_node.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lab/pair.sh"

search() {
  "$BIN/farvec" search --queries "$DATA/query.u8bin" --k 10 --list 40 --out "$@"
}
search_device() { search "$1.ibin" --index "$DATA/$1" --tier "devdax:$DEVICE"; }
devices() { "$BIN/farvec" devices "$@"; }

# Neighbours and counts of `first` are those of DRAM, and what is there is whole.
read_first() {
  devices list "$DEVICE" | tee list.txt
  grep -q "^  first: " list.txt || fail "'first' is not listed"
  devices check "$DEVICE" --quiet
  search expected.ibin --index "$DATA/first"
  search_device first
  cmp expected.ibin first.ibin || fail "other neighbours on the shared device"
  "$BIN/farvec" sweep --index "$DATA/first" --queries "$DATA/query.u8bin" \
    --groundtruth "$DATA/truth.ibin" --list 40 --slots 16 --tier "dram,devdax:$DEVICE" \
    --passes 1 --pass-ms 1 --line-ns 10 --json sweep.json
  [ "$(exact_counts | wc -l)" -eq 1 ] || fail "counts differ from DRAM's: $(exact_counts)"
}

# Searches of `first` go on while the other guest publishes `second` and removes `first`, of which
# its locks do not tell it that somebody reads it. Who opens the device sees `second` whole or not
# at all.
read_while_published() {
  local writer sees_second=0 searches=0 before=0
  search expected.ibin --index "$DATA/first"
  search expected_second.ibin --index "$DATA/second"
  "$BIN/farvec-compute-node" --index "$DATA/first" --tier "devdax:$DEVICE" \
    --listen "unix:$FOLDER/c" >compute.log 2>&1 &
  PIDS+=($!)
  await_line "serving" compute.log
  await_peer 240 &
  writer=$!
  tell_peer
  while true; do
    kill -0 "$writer" 2>/dev/null || sees_second=must
    search found.ibin --connect "unix:$FOLDER/c"
    cmp expected.ibin found.ibin || fail "'first' changed while it was searched"
    searches=$((searches + 1))
    if search_device second 2>error.log; then
      cmp expected_second.ibin second.ibin || fail "'second' is torn"
      [ "$sees_second" != must ] || break
    else
      grep -q "does not hold the index" error.log || fail "neither the old state nor the new one"
      [ "$sees_second" = 0 ] || fail "'second' was published and is not seen"
      before=$((before + 1))
    fi
  done
  wait "$writer" || fail "the writer is not done"
  echo "$searches times the neighbours of 'first', $before of them before 'second' was there"
  devices list "$DEVICE" | tee list.txt
  grep -q "^  first: " list.txt && fail "'first' is listed still"
  search_device first 2>error.log && fail "'first' can be opened still"
  grep "does not hold the index" error.log
}

case "$FARVEC_LAB_GUEST:$3" in
  0:load)
    devices format "$DEVICE"
    devices load --index "$DATA/first" "$DEVICE" --quiet
    ;;
  1:read) read_first ;;
  0:publish)
    await_peer 240
    devices load --index "$DATA/second" "$DEVICE" --quiet
    devices remove "$DEVICE" first
    tell_peer
    ;;
  1:publish) read_while_published ;;
esac
