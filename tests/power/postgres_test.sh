#!/usr/bin/env bash
# Power that goes while tables with indexes are changed: the data directory is on a disk whose write cache
# is volatile, in a guest that is killed at random moments, CUTS times. Each boot recovers, compares tables
# with their indexes, looks for each row that was acknowledged, and is then the one that is cut.
#   postgres_test.sh [CUTS]   with FARVEC_BIN_DIR, FARVEC_POSTGRES_DIR and FARVEC_PG_CONFIG
set -euo pipefail
BIN="$FARVEC_BIN_DIR"
CUTS="${1:-2}"
# Power goes after so many transactions that were acknowledged at most, and so many milliseconds more.
MOST_MARKS=40 MOST_MS=5000
# PostgreSQL's programs take seconds to be loaded, and its data directory minutes to be made.
export FARVEC_LAB_BOOT_SECONDS="${FARVEC_LAB_BOOT_SECONDS:-600}"
LAB_OPTIONS=(--disk 1024 --processors 2)
# shellcheck disable=SC2016  # the guest's own names
LIFE='exec /usr/bin/python3 -B tests/power/postgres_life.py "$FARVEC_LAB_DISK" "$FOLDER/journal" "$FARVEC_LAB_OUT/journal"'
source "$(dirname "${BASH_SOURCE[0]}")/cuts.sh"
cd "$ROOT"

live
for ((cut = 1; cut <= CUTS; ++cut)); do
  cut_behind $((1 + RANDOM % MOST_MARKS)) $((RANDOM % MOST_MS))
  start=$SECONDS
  live
  found "cut $cut, boot and check $((SECONDS - start)) s"
done
cut_behind 1 0
echo "power went $CUTS times: all $(wc -l <"$FOLDER/journal") transactions that were acknowledged were there"
