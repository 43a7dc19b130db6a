#!/usr/bin/env bash
# What power_test.sh runs in a guest: checks both devices as the loss of power left them, or formats
# them when they are new, and then loads, serves, publishes and removes until the guest ends.
#   power_guest.sh BIN_DIR FOLDER      FOLDER has the indexes `a` and `b`
set -euo pipefail
BIN="$1"
FOLDER="$2"
DEVICES=("${FARVEC_LAB_NVDIMM:?}" "${FARVEC_LAB_CXL:?}")

devices() { "$BIN/farvec" devices "$@"; }

# sound DEVICE: what is listed is whole, `kept` is there, and what nothing takes is free.
sound() {
  devices check "$1" --quiet
  devices list "$1" --json | python3 -c '
import json, sys
said, = json.load(sys.stdin)
names = [index["name"] for index in said["indexes"]]
assert "kept" in names, names
unit = 2 << 20
taken = sum(index["bytes"] for index in said["indexes"])
assert said["free_bytes"] + taken + unit == said["bytes"] // unit * unit, said
print("sound:", sys.argv[1], names)' "$1"
}

for device in "${DEVICES[@]}"; do
  if devices list "$device" >/dev/null 2>error.txt; then
    sound "$device"
  else
    grep -q "is not formatted" error.txt || { cat error.txt; exit 1; }
    devices format "$device"
    devices load --index "$FOLDER/a" "$device" --name kept --quiet
  fi
done
echo "checked"
touch "$FARVEC_LAB_OUT/checked"
while true; do
  for device in "${DEVICES[@]}"; do
    devices load --index "$FOLDER/b" "$device" --name moved --quiet
    devices remove "$device" moved
  done
done
