#!/usr/bin/env bash
# The main job on real data: index Fashion-MNIST, search it through a memory node and a compute node,
# then over several tiers in one process, and draw the figures. Everything is left in build/demo/.
#   scripts/demo.sh
#   scripts/demo.sh --postgres    the same data as a table of PostgreSQL with an index of farvec
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$ROOT"

case "${1:-}" in
  "" | --postgres) ;;
  -h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) die "unknown argument '$1'" ;;
esac

OUT=build/demo
BIN=build/release/bin
DATA="$OUT/fashion-mnist"
K=10
LIST=40
# Sockets have short paths; the work tree's may be long.
RUN="$(mktemp -d /tmp/farvec-demo.XXXXXX)"
PIDS=()
STEP=
STARTED=0
STEPS=()

# begin WHAT: a step; its time is told at the end, and how long the one before it took.
begin() {
  finish
  STEP="$1"
  STARTED=$SECONDS
  say "$1"
}

finish() {
  [ -z "$STEP" ] || STEPS+=("$(printf '%5d s  %s' $((SECONDS - STARTED)) "$STEP")")
  STEP=
}

stop_daemons() {
  local pid
  for pid in "${PIDS[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
  for pid in "${PIDS[@]}"; do
    timeout 15 tail --pid="$pid" -f /dev/null || kill -KILL "$pid" 2>/dev/null || true
  done
  PIDS=()
}

cleanup() {
  stop_daemons
  rm -rf "$RUN"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

build_index() {
  rm -rf "$OUT/index-$1"
  timeout --foreground 300 "$BIN/farvec" build graph --data "$DATA/base.u8bin" --metric l2 --degree 32 \
    --list 100 --layout "$1" --seed 1 --out "$OUT/index-$1"
}

# sweep LAYOUT TIERS LISTS SLOTS
sweep() {
  timeout --foreground 300 "$BIN/farvec" sweep --index "$OUT/index-$1" --queries "$DATA/query.u8bin" \
    --groundtruth "$DATA/gt100.ibin" --k "$K" --list "$3" --width 1,4 --slots "$4" --threads 1 \
    --tier "$2" --queries-range 8000:10000 --passes 3 --pass-ms 200 --json "$OUT/sweep-$1.jsonl" --overwrite
}

# start NAME COMMAND...: a daemon with its log in build/demo/NAME.log; returns when it serves
start() {
  local name="$1"
  shift
  "$@" >"$OUT/$name.log" 2>&1 &
  PIDS+=("$!")
  local end=$((SECONDS + 60))
  until grep -q ' info serving ' "$OUT/$name.log"; do
    kill -0 "$!" 2>/dev/null && [ "$SECONDS" -lt "$end" ] ||
      { cat "$OUT/$name.log" >&2; die "$name does not serve"; }
    sleep 0.1
  done
}

search_remotely() {
  timeout --foreground 120 "$BIN/farvec" search --connect "unix:$RUN/compute.sock" \
    --queries "$DATA/query.u8bin" --k "$K" --list "$LIST" --out "$OUT/found.ibin" || {
    tail -n 20 "$OUT/memory-node.log" "$OUT/compute-node.log" >&2
    die "the search through the compute node failed"
  }
}

get_data() {
  begin "Data: Fashion-MNIST, 60,000 x 784 bytes, with exact neighbours"
  FARVEC="$ROOT/$BIN/farvec" timeout --foreground 600 scripts/datasets/get.sh fashion-mnist --out "$DATA"
}

# The server runs as another user where root runs this, so its files lie where that user reaches them.
show_postgres() {
  local pg_config
  pg_config="$(command -v pg_config)" ||
    die "there is no pg_config: scripts/install-deps.sh installs PostgreSQL"
  begin "Building (binaries in $BIN)"
  build_preset release farvec farvec_c farvec-postgres-engine postgres_extension
  get_data
  begin "PostgreSQL"
  chmod 755 "$RUN"
  timeout --foreground 900 "$PYTHON" scripts/postgres_demo.py --data "$DATA" --build build/release \
    --pg-config "$pg_config" --out "$RUN/postgres"
  finish
  say "Done in $SECONDS s"
  printf '%s\n' "${STEPS[@]}"
}

begin "Packages"
# Tests need packages that the demo does without; PostgreSQL is one of them.
if [ "${1:-}" = --postgres ]; then
  ensure_deps
  mkdir -p "$OUT"
  show_postgres
  exit 0
fi
ensure_deps --programs
"$ROOT/scripts/install-deps.sh" --check >/dev/null 2>&1 || CONFIGURE_OPTIONS=(-DFARVEC_TESTS=OFF)
mkdir -p "$OUT"
begin "Building (binaries in $BIN)"
build_preset release farvec farvec-memory-node farvec-compute-node
get_data

begin "Index: Vamana graph, CSR layout"
build_index csr
"$BIN/farvec" inspect "$OUT/index-csr" --verify

begin "A memory node and a compute node"
start memory-node "$BIN/farvec-memory-node" --index "$OUT/index-csr" \
  --listen "unix:$RUN/memory.sock"
start compute-node "$BIN/farvec-compute-node" --memory-node "unix:$RUN/memory.sock" \
  --listen "unix:$RUN/compute.sock"
search_remotely
stop_daemons
remote_recall="$("$PYTHON" scripts/recall.py "$OUT/found.ibin" "$DATA/gt100.ibin")"
echo "Through the daemons: recall@$K $remote_recall at list $LIST, ids in $OUT/found.ibin"
echo "First recall $SECONDS s after the start"

begin "Sweep over tiers (emulated tiers are models; they are printed with the figures)"
sweep csr dram,shm,emulated:rdma,emulated:cxl 10,12,16,24,40,80 1,16

begin "The same graph in the padded layout, and its sweep"
build_index padded
sweep padded dram,emulated:rdma 10,12,16,24,40,80 16

begin "Figures"
scripts/plots/sweep.py "$OUT"/sweep-csr.jsonl "$OUT"/sweep-padded.jsonl --out "$OUT" --summary
"$BIN/farvec" report "$OUT"/sweep-csr.jsonl "$OUT"/sweep-padded.jsonl --out "$OUT/report.html"

finish
say "Done in $SECONDS s"
printf '%s\n' "${STEPS[@]}"
echo "Figures: $(cd "$OUT" && echo *.png) in $OUT/; all rows in a browser: $OUT/report.html"
