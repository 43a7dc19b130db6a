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
LAB_OPTIONS=(--pmem 256 --processors 1)
# shellcheck disable=SC2016  # the guest's own names
LIFE='exec "$BIN/device_life" "$FOLDER" "$FOLDER/journal" "$FARVEC_LAB_OUT/journal" \
  "$FARVEC_LAB_NVDIMM" "$FARVEC_LAB_CXL"'
source "$(dirname "${BASH_SOURCE[0]}")/../power/cuts.sh"

IMAGES=/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz
for rows in a:400 b:700 c:1000 p:800; do
  name="${rows%%:*}"
  "$BIN/farvec" dataset sample "$IMAGES" "$FOLDER/$name.u8bin" --rows "0:${rows#*:}" --quiet
  "$BIN/farvec" build graph --data "$FOLDER/$name.u8bin" --metric l2 --degree 16 --list 32 --quiet \
    --out "$FOLDER/$name"
done
"$BIN/farvec" place --index "$FOLDER/p" --nodes 2 >/dev/null

live
for ((cut = 1; cut <= CUTS; ++cut)); do
  marks=$((1 + RANDOM % MOST_MARKS)) ms=$((RANDOM % MOST_MS))
  cut_behind "$marks" "$ms"
  start=$SECONDS
  live
  found "cut $cut, $ms ms behind mark $marks, boot and check $((SECONDS - start)) s"
done
cut_behind 1 0
echo "power went $CUTS times: each device was as before or as after what was being done to it," \
  "every index that was listed was whole, no space was lost"
