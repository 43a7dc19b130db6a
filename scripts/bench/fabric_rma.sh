#!/usr/bin/env bash
# `farvec bench transport` over libfabric beside a bare loop of its reads (fabric_read_bw, which does
# what fi_rma_bw does) and libfabric's own fi_pingpong: the same provider, payloads and reads in
# flight, in turn. Readers are on processor 0, servers on processor 1.
# Usage: fabric_rma.sh BIN_DIR JSON
# Environment: PROVIDER [tcp], ROUNDS [5], PAYLOADS ["256 4096 65536"], DEPTH reads in flight
# [64], BATCH reads posted at once [8], SECONDS_EACH of one measurement [1].
# Prints a table and writes one JSON object per line to JSON.
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
[ $# -eq 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
BIN="$(cd "$1" && pwd)"
JSON="$(realpath "$2")"
PROVIDER="${PROVIDER:-tcp}" ROUNDS="${ROUNDS:-5}" PAYLOADS="${PAYLOADS:-256 4096 65536}"
DEPTH="${DEPTH:-64}" BATCH="${BATCH:-8}" SECONDS_EACH="${SECONDS_EACH:-1}"
read -r -a PAYLOADS <<<"$PAYLOADS"
command -v fi_pingpong >/dev/null || { echo "error: install libfabric-bin" >&2; exit 1; }
NODE_FLAGS=(--fabric "$PROVIDER$([ "$PROVIDER" = shm ] || echo :127.0.0.1)")
source "$HERE/../memory_node.sh"
PINGS=2000

# farvec_bench PAYLOAD OPTION...: appends to bench.jsonl.
farvec_bench() {
  timeout $((SECONDS_EACH * 8 + 60)) "$BIN/farvec" bench transport \
    --tier "fabric:$PROVIDER:unix:$FOLDER/m" --json one.json --passes 1 \
    --pass-ms $((SECONDS_EACH * 1000)) --payload "$@" >bench.log 2>&1 ||
    fail "farvec bench transport ended with $?"
  cat one.json >>bench.jsonl
}

# bare NAME BESIDE PAYLOAD OPTION...: reads per second, to others.tsv.
bare() {
  local rate
  rate="$(timeout $((SECONDS_EACH + 30)) "$BIN/fabric_read_bw" --provider "$PROVIDER" \
    --payload "$3" --seconds "$SECONDS_EACH" "${@:4}" 2>bare.log)" || fail "fabric_read_bw"
  printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$rate" >>others.tsv
}

# pingpong PAYLOAD: round trips of a message per second, to others.tsv; it prints half of one in us.
pingpong() {
  local server half
  taskset -c 1 timeout 60 fi_pingpong -p "$PROVIDER" -e rdm -I "$PINGS" -S "$1" >server.log 2>&1 &
  server=$!
  PIDS+=("$server")
  sleep 0.5 # until it listens
  taskset -c 0 timeout 60 fi_pingpong -p "$PROVIDER" -e rdm -I "$PINGS" -S "$1" 127.0.0.1 \
    >client.log 2>&1 || fail "fi_pingpong"
  wait "$server" || fail "fi_pingpong's server"
  unset 'PIDS[-1]'
  half="$(awk '$1 ~ /^[0-9]/ { print $7 }' client.log)"
  printf 'fi_pingpong\t%s\t%s\t%s\n' "$LATENCY" "$1" "$(awk "BEGIN { print 5e5 / $half }")" \
    >>others.tsv
}

LOOP="fabric_read_bw --refill $BATCH"
LATENCY="fabric_read_bw --depth 1"
round() {
  local payload
  for payload in "${PAYLOADS[@]}"; do
    bare "$LOOP" "$LOOP" "$payload" --depth "$DEPTH" --refill "$BATCH"
    farvec_bench "$payload" --inflight "$DEPTH" --batch "$BATCH"
    bare "fabric_read_bw --refill $DEPTH" "$LOOP" "$payload" --depth "$DEPTH" --refill "$DEPTH"
    bare "$LATENCY" "$LATENCY" "$payload" --depth 1
    farvec_bench "$payload" --inflight 1
    pingpong "$payload"
  done
}

make_index 2000
start_memory_node
taskset -acp 1 "$MEMORY" >/dev/null
for ((number = 1; number <= ROUNDS; number++)); do
  echo "round $number of $ROUNDS" >&2
  round
done
/usr/bin/python3 "$HERE/beside_table.py" bench.jsonl others.tsv "$JSON" --latency "$LATENCY" \
  --batch "fabric_read_bw --refill {batch}"
