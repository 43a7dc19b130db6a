# A memory node in a folder of its own, for tests and measurements: source it, do not run it. Needs BIN
# (the folder of the programs) and NODE_FLAGS (an array: what the node serves by, as "--rdma HOST").
# Everything in PIDS, and the folder, is gone when the script ends.
FOLDER="$(mktemp -d)"
PIDS=()
clean_up() {
  kill -KILL "${PIDS[@]}" 2>/dev/null || true
  rm -rf "$FOLDER"
}
trap clean_up EXIT
cd "$FOLDER"

fail() {
  echo "FAILED: $*" >&2
  tail -n 20 ./*.log >&2
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

# take_images A:B FILE: of the 10000 test images of Fashion-MNIST.
take_images() {
  "$BIN/farvec" dataset sample /usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz "$2" \
    --rows "$1" --quiet
}

# make_index ROWS: ./index of ./base.u8bin.
make_index() {
  take_images "0:$1" base.u8bin
  "$BIN/farvec" build graph --data base.u8bin --metric l2 --degree 16 --list 32 --quiet --out index
}

# await_search OUT: what the script's `search` finds through the compute node at unix:$FOLDER/c, once
# that is attached again.
await_search() {
  local end=$((SECONDS + 60))
  until search --connect "unix:$FOLDER/c" --out "$1" 2>/dev/null; do
    [ "$SECONDS" -lt "$end" ] || fail "not attached again"
    sleep 0.5
  done
}

# exact_counts: one line per different set of exact figures in ./sweep.json.
exact_counts() {
  grep -o '"recall":[^,]*\|"[a-z_]*_per_query":[^,]*' sweep.json | paste -sd ' ' |
    sed 's/"recall"/\n"recall"/g' | sed '/^$/d; s/ *$//' | sort -u
}

# Serves ./index at unix:$FOLDER/m as process $MEMORY.
start_memory_node() {
  rm -f memory.log
  "$BIN/farvec-memory-node" --index index --listen "unix:$FOLDER/m" "${NODE_FLAGS[@]}" \
    --lease-seconds 2 >memory.log 2>&1 &
  MEMORY=$!
  PIDS+=("$MEMORY")
  await_line "serving" memory.log
}
