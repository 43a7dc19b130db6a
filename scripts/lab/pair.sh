# A memory node in one lab guest for a client in the other: source it in a script that
# `lab.sh run --guests 2` runs. Needs BIN, the folder of the programs.
CONTROL=7700 BELL=7701

# start_peer_node INDEX: over verbs and libfabric's tcp, as process $NODE.
start_peer_node() {
  "$BIN/farvec-memory-node" --index "$1" --listen "$FARVEC_LAB_SELF:$CONTROL" --insecure --quiet \
    --rdma "$FARVEC_LAB_SELF" --fabric "tcp:$FARVEC_LAB_SELF" &
  NODE=$!
}

end_peer_node() {
  kill -TERM "$NODE"
  wait "$NODE"
}

# await_peer_node: until the other guest's memory node serves, at most 60 s. The tool does not wait for
# one that comes.
await_peer_node() {
  local end=$((SECONDS + 60))
  until "$BIN/farvec" status "$FARVEC_LAB_PEER:$CONTROL" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.2
  done
}

# await_peer SECONDS: until the other guest calls tell_peer; fails after that time.
await_peer() { timeout "$1" busybox nc -l -p "$BELL" >/dev/null; }
tell_peer() { busybox nc -w 5 "$FARVEC_LAB_PEER" "$BELL" </dev/null; }
