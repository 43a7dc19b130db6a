#!/usr/bin/env bash
# Two guests on one CXL device: what one of them has loaded the other one lists and searches, with
# the neighbours and counts of DRAM and without a byte written; while another index is published and
# the first one removed, searches that run go on, and an index is there whole or not at all.
#   shared_test.sh BIN_DIR
# Both guests are processes of one machine with one coherent cache: a flush that is missing cannot be
# seen here.
set -euo pipefail
BIN="$1"
HERE="$(realpath "$(dirname "${BASH_SOURCE[0]}")")"
ROOT="$(realpath "$HERE/../..")"
LAB="$ROOT/scripts/lab/lab.sh"
FOLDER="$(mktemp -d "$ROOT/build/shared-XXXXXX")"
clean_up() {
  "$LAB" down >/dev/null 2>&1 || true
  rm -rf "$FOLDER"
}
trap clean_up EXIT

take_images() {
  "$BIN/farvec" dataset sample /usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz \
    "$FOLDER/$2" --rows "$1" --quiet
}
for rows in first:0:1000 second:1000:2500; do
  name="${rows%%:*}"
  take_images "${rows#*:}" "$name.u8bin"
  "$BIN/farvec" build graph --data "$FOLDER/$name.u8bin" --metric l2 --degree 16 --list 32 --quiet \
    --out "$FOLDER/$name"
done
take_images 3000:3040 query.u8bin
"$BIN/farvec" dataset groundtruth --data "$FOLDER/first.u8bin" --queries "$FOLDER/query.u8bin" \
  --metric l2 --k 10 --out "$FOLDER/truth.ibin"

lab() { "$LAB" "$1" --guests 2 --pmem 256 --memory 1024 --timeout 400 "${@:2}"; }
in_guests() { lab run -- "$HERE/shared_guest.sh" "$BIN" "$FOLDER" "$1"; }
bytes() { sha256sum <"$ROOT/build/lab/guest0/images/cxl"; }

lab up
in_guests load
loaded="$(bytes)"
in_guests read
[ "$(bytes)" = "$loaded" ] || { echo "FAILED: a reader wrote to the device" >&2; exit 1; }
in_guests publish
