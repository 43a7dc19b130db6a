#!/usr/bin/env bash
# In two running lab guests: one network device has a smaller MTU than the other, and then
# the memory node's and the client's go down and up again in the middle of searches.
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
  start_peer_node index >node.log 2>&1
  await_peer 120
  sleep 1 # until the other guest's message has been answered
  ip link set eth0 down
  # Longer than a query may take, shorter than a lease: soft-RoCE's connection manager does not
  # survive that it says good-bye over a device that is down.
  sleep 7
  ip link set eth0 up
  await_peer 120
  end_peer_node
  cat node.log
  grep -q "port 1 is down, its connections end" node.log || fail "the device did not say so"
  grep -q "port 1 is up" node.log || fail "nor that it was up again"
}

# bench MTU: reads over the path MTU that both have.
bench() {
  rm -f bench.json
  timeout 60 "$BIN/farvec" bench transport --tier "verbs:$FARVEC_LAB_PEER:$CONTROL" --payload 4096 \
    --inflight 4 --passes 1 --pass-ms 100 --json bench.json >bench.log 2>&1 ||
    fail "no reads with different MTUs: $(cat bench.log)"
  grep -q "MTU $1," bench.json || fail "another path MTU than $1: $(cat bench.json)"
}

read_through_faults() {
  await_peer_node || fail "the memory node does not serve"
  bench 1024
  ip link set eth0 mtu 700
  bench 512
  ip link set eth0 mtu 4200
  start_compute_node "$FARVEC_LAB_PEER:$CONTROL"
  start_searches
  await_outcome same
  tell_peer
  await_outcome refused
  await_outcome same
  ip link set eth0 down
  await_outcome refused
  ip link set eth0 up
  await_outcome same
  end_searches
  grep -q "port of this machine's RDMA device is down" compute.log ||
    fail "this machine's device did not say so"
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
