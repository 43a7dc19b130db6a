#!/usr/bin/env bash
# Power that goes while a paged HNSW and a collection on one disk are changed: a guest with a disk
# whose write cache is volatile is killed at random moments, CUTS times; every third time once more
# while it opens and checks what it finds. Each boot finds all that was acknowledged and nothing that
# was never sent, and is then the one that is cut.
#   disk_test.sh BIN_DIR [CUTS]
set -euo pipefail
BIN="$1"
CUTS="${2:-3}"
# Power goes behind so many begins and ends of changes at most, and so many milliseconds more.
MOST_MARKS=600 MOST_MS=3000
# Of a boot that is cut; the programs take a second or two to be loaded.
MOST_OPENING_MS=4000
LAB_OPTIONS=(--disk 512 --processors 2)
# shellcheck disable=SC2016  # the guest's own names
LIFE='exec "$BIN/disk_life" "$FARVEC_LAB_DISK" "$FOLDER/journal" "$FARVEC_LAB_OUT/journal"'
source "$(dirname "${BASH_SOURCE[0]}")/cuts.sh"

# opened INDEX: median and longest of the times in which it was opened.
opened() {
  sed -n "s/.*: $1 opened in \([0-9]*\) ms.*/\1/p" "$FOLDER/found" | sort -n |
    awk '{ ms[NR] = $1 } END { printf "%d and %d ms", ms[int((NR + 1) / 2)], ms[NR] }'
}

live
twice=0
for ((cut = 1; cut <= CUTS; ++cut)); do
  marks=$((1 + RANDOM % MOST_MARKS)) ms=$((RANDOM % MOST_MS))
  cut_behind "$marks" "$ms"
  if ((cut % 3 == 0)); then
    begin_life
    cut $((RANDOM % MOST_OPENING_MS))
    twice=$((twice + 1))
  fi
  start=$SECONDS
  live
  found "cut $cut, $ms ms behind mark $marks, boot and check $((SECONDS - start)) s" |
    tee -a "$FOLDER/found"
done
cut_behind 1 0
changes="$(grep -c done "$FOLDER/journal")"
echo "power went $CUTS times, and $twice times behind a boot: of $changes changes all that were" \
  "acknowledged were there, and nothing else; the graph was opened in $(opened hnsw) (median and" \
  "longest), the collection in $(opened collection)"
