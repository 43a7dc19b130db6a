#!/usr/bin/env bash
# `farvec bench transport` beside perftest (ib_read_bw, ib_read_lat): one machine, one queue pair,
# the same payloads, queue depth and reads per doorbell, in turn. Runs on an RDMA device, e.g.
#   scripts/lab/lab.sh run --timeout 1200 -- scripts/bench/rdma_perftest.sh build/release/bin
# Usage: rdma_perftest.sh BIN_DIR [JSON]
# Environment: ROUNDS [5], PAYLOADS ["256 1024 4096"], DEPTH reads in flight [64], BATCH reads per
# doorbell [8], SECONDS_EACH of one measurement [2].
# Prints a table and writes one JSON object per line to JSON [$FARVEC_LAB_OUT/rdma_perftest.json].
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
BIN="$(cd "$1" && pwd)"
JSON="$(realpath "${2:-${FARVEC_LAB_OUT:?give a file for the JSON lines}/rdma_perftest.json}")"
ROUNDS="${ROUNDS:-5}" DEPTH="${DEPTH:-64}" BATCH="${BATCH:-8}" SECONDS_EACH="${SECONDS_EACH:-2}"
read -r -a PAYLOADS <<<"${PAYLOADS:-256 1024 4096}"
command -v ib_read_bw >/dev/null || { echo "error: no ib_read_bw: install perftest" >&2; exit 1; }
: "${FARVEC_LAB_SELF:?the address of an RDMA device; scripts/lab/lab.sh run gives it}"
NODE_FLAGS=(--rdma "$FARVEC_LAB_SELF")
source "$HERE/../memory_node.sh"

# farvec_bench PAYLOAD OPTION...: appends to bench.jsonl.
farvec_bench() {
  timeout $((SECONDS_EACH * 8 + 60)) "$BIN/farvec" bench transport --tier "verbs:unix:$FOLDER/m" \
    --json one.json --passes 1 --pass-ms $((SECONDS_EACH * 1000)) --payload "$@" >bench.log 2>&1 ||
    fail "farvec bench transport ended with $?"
  cat one.json >>bench.jsonl
}

# run_perftest TOOL PAYLOAD OPTION...: both ends once; the client's output is client.log. Pinned, as
# farvec pins its threads.
run_perftest() {
  local run=(timeout $((SECONDS_EACH + 20)) "$1" -R -F -s "$2" -D "$SECONDS_EACH" -f 0 "${@:3}")
  local server status=0
  "${run[@]}" >server.log 2>&1 &
  server=$!
  PIDS+=("$server")
  sleep 1 # until it listens
  taskset -c 0 "${run[@]}" "$FARVEC_LAB_SELF" >client.log 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then kill -KILL "$server" 2>/dev/null || true; fi
  wait "$server" || status=$?
  unset 'PIDS[-1]'
  return "$status"
}

# perftest_rate NAME PAYLOAD TOOL OPTION...: reads per second, to others.tsv. Counted here: the
# rate that the tools print is divided by the processor's frequency, which they cannot find out in
# an emulated guest, where it is then 0. Connecting sometimes crashes them over soft-RoCE.
perftest_rate() {
  local name="$1" payload="$2" reads try=1
  until run_perftest "$3" "$payload" "${@:4}"; do
    [ "$((try++))" -lt 5 ] || fail "$3 does not work here"
  done
  reads="$(awk -v size="$payload" '$1 == size { print $2 }' client.log)"
  [[ "$reads" =~ ^[1-9][0-9]*$ ]] || fail "no number of reads in the output of $3"
  printf '%s\t%s\t%s\t%s\n' "$name" "$name" "$payload" "$((reads / SECONDS_EACH))" >>others.tsv
}

round() {
  local payload
  for payload in "${PAYLOADS[@]}"; do
    perftest_rate "ib_read_bw -l 1" "$payload" ib_read_bw -t "$DEPTH"
    farvec_bench "$payload" --inflight "$DEPTH" --batch 1
    perftest_rate "ib_read_bw -l $BATCH" "$payload" ib_read_bw -t "$DEPTH" -l "$BATCH"
    farvec_bench "$payload" --inflight "$DEPTH" --batch "$BATCH" --signal both --doorbell both
    perftest_rate ib_read_lat "$payload" ib_read_lat
    farvec_bench "$payload" --inflight 1
  done
}

make_index 2000
start_memory_node
for ((number = 1; number <= ROUNDS; number++)); do
  echo "round $number of $ROUNDS" >&2
  round
done
/usr/bin/python3 "$HERE/beside_table.py" bench.jsonl others.tsv "$JSON" --latency ib_read_lat \
  --batch "ib_read_bw -l {batch}"
