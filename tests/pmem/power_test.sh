#!/usr/bin/env bash
# Power that goes while devices are formatted, loaded, published to and freed: a guest with an NVDIMM
# and a CXL device is killed at random moments, CUTS times. Each boot holds both devices against what
# was being done to them when power went, and is then the one that is cut.
#   power_test.sh BIN_DIR [CUTS]
# QEMU's memory is the host's: whatever a processor has stored outlives the guest. What caches lose is
# tested without a guest (tests/unit/device).
set -euo pipefail
BIN="$1"
CUTS="${2:-3}"
# Power goes behind so many begins and ends of steps at most, and so many milliseconds more.
MOST_MARKS=8 MOST_MS=1500
PATIENCE="${FARVEC_LAB_BOOT_SECONDS:-300}" # for whatever a guest does, in seconds
ROOT="$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")"
LAB="$ROOT/scripts/lab/lab.sh"
FOLDER="$(mktemp -d "$ROOT/build/power-XXXXXX")"
GUEST="$ROOT/build/lab/guest0"
clean_up() {
  "$LAB" down >/dev/null 2>&1 || true
  rm -rf "$FOLDER"
}
trap clean_up EXIT

IMAGES=/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz
for rows in a:400 b:700 c:1000 p:800; do
  name="${rows%%:*}"
  "$BIN/farvec" dataset sample "$IMAGES" "$FOLDER/$name.u8bin" --rows "0:${rows#*:}" --quiet
  "$BIN/farvec" build graph --data "$FOLDER/$name.u8bin" --metric l2 --degree 16 --list 32 --quiet \
    --out "$FOLDER/$name"
done
"$BIN/farvec" place --index "$FOLDER/p" --nodes 2 >/dev/null
touch "$FOLDER/journal"

lab() {
  "$LAB" "$1" --pmem 256 --no-rdma --processors 1 --memory 1024 --images "$FOLDER/images" \
    --timeout $((2 * PATIENCE)) "${@:2}"
}
# shellcheck disable=SC2016  # the guest's own names
LIFE='exec "$0/device_life" "$1" "$1/journal" "$FARVEC_LAB_OUT/journal" \
  "$FARVEC_LAB_NVDIMM" "$FARVEC_LAB_CXL"'

# live: boots, and returns once both devices were found to be sound and are written again.
live() {
  local end=$((SECONDS + PATIENCE))
  lab up
  lab run -- bash -c "$LIFE" "$BIN" "$FOLDER" >"$FOLDER/log" 2>&1 &
  JOB=$!
  until grep -q "^checked" "$GUEST"/share/outbox/*.out 2>/dev/null; do
    kill -0 "$JOB" 2>/dev/null && [ "$SECONDS" -lt "$end" ] || { cat "$FOLDER/log"; exit 1; }
    sleep 0.1
  done
}

# cut_power MARKS MS: behind so many marks of the journal, and so many milliseconds.
cut_power() {
  local end=$((SECONDS + PATIENCE))
  until [ "$(wc -l 2>/dev/null <"$GUEST/share/out/journal" || echo 0)" -ge "$1" ]; do
    [ "$SECONDS" -lt "$end" ] || { cat "$FOLDER/log"; exit 1; }
    sleep 0.05
  done
  sleep "$(printf '%d.%03d' $(($2 / 1000)) $(($2 % 1000)))"
  kill -0 "$JOB" 2>/dev/null || { cat "$FOLDER/log"; exit 1; } # what it did has failed
  kill -KILL "$(cat "$GUEST/pid")"
  wait "$JOB" || true
  cat "$GUEST/share/out/journal" >>"$FOLDER/journal"
}

live
for ((cut = 1; cut <= CUTS; ++cut)); do
  marks=$((1 + RANDOM % MOST_MARKS)) ms=$((RANDOM % MOST_MS))
  cut_power "$marks" "$ms"
  start=$SECONDS
  live
  sed -n "s/^cut: /cut $cut, $ms ms behind mark $marks, boot and check $((SECONDS - start)) s: /p" \
    "$GUEST"/share/outbox/*.out
done
cut_power 1 0
echo "power went $CUTS times: each device was as before or as after what was being done to it," \
  "every index that was listed was whole, no space was lost"
