#!/usr/bin/env bash
# `farvec bench transport` over RDMA: every combination has its line, a longer run ends with an error
# when the memory node dies, and what the device cannot have is refused. Needs an RDMA device at
# FARVEC_LAB_SELF (scripts/lab/lab.sh run gives it).
#   bench_test.sh BIN_DIR
set -euo pipefail
BIN="$1"
NODE_FLAGS=(--rdma "$FARVEC_LAB_SELF")
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/memory_node.sh"
make_index 500
start_memory_node
TIER="verbs:unix:$FOLDER/m"

PASS_MS=20

bench() {
  timeout 60 "$BIN/farvec" bench transport --tier "$TIER" --passes 2 --pass-ms "$PASS_MS" "$@"
}

bench --payload 64,4096 --inflight 1,16 --mix 50% --batch 1,8 --signal both --doorbell both \
  --json bench.json || fail "the bench ended with $?"
# inflight 1 has one batch, 16 has two; both ways of signalling and of ringing
[ "$(wc -l <bench.json)" -eq $((2 * 3 * 2 * 2)) ] || fail "$(wc -l <bench.json) lines"
grep -q '"tier_model":"verbs(.*"signal":"all","doorbell":"read"' bench.json ||
  fail "no line for --signal all --doorbell read"
bench --payload 256 --inflight 8 --threads 2 || fail "two queue pairs: $?"

bench --inflight 100000 2>error.log && fail "takes 100000 reads in flight"
grep -q "100000 reads in flight" error.log || fail "$(cat error.log)"
TIER="$TIER,reads=8" bench --payload 64 --inflight 4 --threads 2 || fail "within the budget: $?"
TIER="$TIER,reads=8" bench --payload 64 --inflight 5 --threads 2 2>error.log &&
  fail "takes more reads than the budget"
grep -q "5 reads in flight" error.log || fail "$(cat error.log)"
TIER="$TIER,reads=1" bench --inflight 1 --threads 2 2>error.log && fail "less than a read per core"
grep -q "a budget of 1 outstanding reads" error.log || fail "$(cat error.log)"
bench --payload 1000000000 2>error.log && fail "takes a payload beyond the region"
grep -q "from a region of" error.log || fail "$(cat error.log)"

PASS_MS=20000 bench --inflight 16 2>error.log &
BENCH=$!
end=$((SECONDS + 50))
until grep -q "pass 1 of" error.log; do # it is reading
  [ "$SECONDS" -lt "$end" ] || fail "the bench does not read: $(cat error.log)"
  sleep 0.1
done
kill -KILL "$MEMORY"
status=0
wait "$BENCH" || status=$?
[ "$status" -eq 1 ] || fail "the memory node died and the bench ended with $status"
grep -q "error: verbs(" error.log || fail "$(cat error.log)"
echo "every combination over RDMA has its line; a node that dies ends the bench"
