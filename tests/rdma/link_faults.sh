#!/usr/bin/env bash
# In two running lab guests: the memory node's network device has a smaller MTU than the client's,
# and then goes down and up again in the middle of searches.
#   link_faults.sh BIN_DIR                   on the machine
#   link_faults.sh BIN_DIR --guest FOLDER    in each guest; index and queries are in FOLDER
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
BIN="$(cd "$1" && pwd)"
NODE_FLAGS=()
source "$HERE/../../scripts/memory_node.sh"
source "$HERE/../../scripts/lab/pair.sh"
source "$HERE/search_loop.sh"

make_data() {
  make_index 2000
  take_images 2000:2020 query.u8bin
}

serve() {
  ip link set eth0 mtu 1500
  start_peer_node index
  await_peer 120
  sleep 1 # until the other guest's message has been answered
  ip link set eth0 down
  # Longer than a query may take, shorter than a lease: soft-RoCE's connection manager does not
  # survive that it says good-bye over a device that is down.
  sleep 7
  ip link set eth0 up
  await_peer 120
  end_peer_node
}

bench() {
  timeout 60 "$BIN/farvec" bench transport --tier "verbs:$FARVEC_LAB_PEER:$CONTROL" --payload 4096 \
    --inflight 4 --passes 1 --pass-ms 100 >bench.log 2>&1
}

read_through_faults() {
  bench && fail "reads with different MTUs"
  grep -q "path MTU of 1024 bytes and this machine's rxe0 one of 4096" bench.log ||
    fail "another error than one about the MTU"
  ip link set eth0 mtu 1500
  bench || fail "no reads with the same MTU"
  start_compute_node "$FARVEC_LAB_PEER:$CONTROL"
  start_searches
  await_outcome same
  tell_peer
  await_outcome refused
  await_outcome same
  end_searches
}

if [ "${2:-}" != --guest ]; then
  make_data
  "$HERE/../../scripts/lab/lab.sh" run --guests 2 --timeout 280 -- \
    "$HERE/link_faults.sh" "$BIN" --guest "$FOLDER"
  exit
fi
cp -r "$3/index" "$3/query.u8bin" .
tc qdisc del dev eth0 root # no delay: a search then takes as long as it does in one guest
if [ "$FARVEC_LAB_GUEST" = 0 ]; then
  serve
else
  trap 'tell_peer || true; clean_up' EXIT
  read_through_faults
fi
