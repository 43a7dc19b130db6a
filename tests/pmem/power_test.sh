#!/usr/bin/env bash
# Power that goes while indexes are loaded and removed: a guest with an NVDIMM and a CXL device is
# killed at random moments and booted again with the same memory, CUTS times.
#   power_test.sh BIN_DIR [CUTS]
# QEMU's memory is the host's: whatever a processor has stored outlives the guest. What caches lose is
# tested without a guest (tests/unit/device).
set -euo pipefail
BIN="$1"
CUTS="${2:-3}"
HERE="$(realpath "$(dirname "${BASH_SOURCE[0]}")")"
ROOT="$(realpath "$HERE/../..")"
LAB="$ROOT/scripts/lab/lab.sh"
FOLDER="$(mktemp -d "$ROOT/build/power-XXXXXX")"
GUEST="$ROOT/build/lab/guest0"
clean_up() {
  "$LAB" down >/dev/null 2>&1 || true
  rm -rf "$FOLDER"
}
trap clean_up EXIT

IMAGES=/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz
for rows in a:500 b:4000; do
  name="${rows%%:*}"
  "$BIN/farvec" dataset sample "$IMAGES" "$FOLDER/$name.u8bin" --rows "0:${rows#*:}" --quiet
  "$BIN/farvec" build graph --data "$FOLDER/$name.u8bin" --metric l2 --degree 16 --list 32 --quiet \
    --out "$FOLDER/$name"
done

lab() { "$LAB" "$1" --pmem 256 --images "$FOLDER/images" --timeout 400 "${@:2}"; }

for ((cut = 0; cut <= CUTS; ++cut)); do
  lab up
  lab run -- "$HERE/power_guest.sh" "$BIN" "$FOLDER" >"$FOLDER/log" 2>&1 &
  job=$!
  end=$((SECONDS + 300))
  until [ -e "$GUEST/share/out/checked" ]; do
    kill -0 "$job" 2>/dev/null && [ "$SECONDS" -lt "$end" ] || { cat "$FOLDER/log"; exit 1; }
    sleep 0.2
  done
  [ "$cut" -eq 0 ] || grep -q "^sound: " "$GUEST"/share/outbox/*.out
  [ "$cut" -eq "$CUTS" ] || sleep "$((RANDOM % 20)).$((RANDOM % 1000))"
  kill -KILL "$(cat "$GUEST/pid")"
  wait "$job" || true
  cp "$GUEST"/share/outbox/*.out "$FOLDER/last.out"
  grep "^sound: " "$FOLDER/last.out" | sed "s/^/after cut $cut: /" || true
done
echo "power went $CUTS times: every index that was listed was whole, no space was lost"
