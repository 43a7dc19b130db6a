# Power cuts of a guest of the lab: source it, do not run it. A life is a program in the guest that
# holds its devices against the journal of the lives before it, says what it found in lines of
# "cut: ", then "checked", and changes the devices, with a journal of its own, until power goes.
# Needs LAB_OPTIONS, those of lab.sh, and LIFE: the guest's command line, with $BIN for the programs
# and $FOLDER for this test's folder, which has the `journal` of former lives.
ROOT="$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")"
LAB="$ROOT/scripts/lab/lab.sh"
PATIENCE="${FARVEC_LAB_BOOT_SECONDS:-300}" # for whatever a guest does, in seconds
GUEST="$ROOT/build/lab/guest0"
FOLDER="$(mktemp -d "$ROOT/build/power-XXXXXX")"
touch "$FOLDER/journal"

clean_up() {
  "$LAB" down >/dev/null 2>&1 || true
  rm -rf "$FOLDER"
}
trap clean_up EXIT

lab() {
  "$LAB" "$1" "${LAB_OPTIONS[@]}" --no-rdma --memory 1024 --images "$FOLDER/images" \
    --timeout $((2 * PATIENCE)) "${@:2}"
}

life_failed() {
  cat "$FOLDER/log"
  exit 1
}

# begin_life: boots, and returns once the life has begun.
begin_life() {
  lab up
  lab run -- env BIN="$BIN" FOLDER="$FOLDER" bash -c "$LIFE" >"$FOLDER/log" 2>&1 &
  JOB=$!
}

# live: begins a life, and returns once all was found to be sound and is changed again.
live() {
  local end=$((SECONDS + PATIENCE))
  begin_life
  until grep -q "^checked" "$GUEST"/share/outbox/*.out 2>/dev/null; do
    kill -0 "$JOB" 2>/dev/null && [ "$SECONDS" -lt "$end" ] || life_failed
    sleep 0.1
  done
}

# pause MS
pause() { sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"; }

# cut MS: power goes in so many milliseconds.
cut() {
  local end=$((SECONDS + PATIENCE))
  pause "$1"
  kill -0 "$JOB" 2>/dev/null || life_failed # what it did has failed
  kill -KILL "$(cat "$GUEST/pid")"
  [ ! -e "$GUEST/disk.pid" ] || kill -TERM "$(cat "$GUEST/disk.pid")" || true # it has seen QEMU go
  wait "$JOB" || true
  cat "$GUEST/share/out/journal" >>"$FOLDER/journal" 2>/dev/null || true # none yet
  [ -e "$GUEST/disk.log" ] || return 0
  until grep "^power went" "$GUEST/disk.log"; do
    [ "$SECONDS" -lt "$end" ] || life_failed
    sleep 0.1
  done
}

# cut_behind MARKS MS: behind so many lines of the life's journal, and so many milliseconds.
cut_behind() {
  local end=$((SECONDS + PATIENCE))
  until [ "$(wc -l 2>/dev/null <"$GUEST/share/out/journal" || echo 0)" -ge "$1" ]; do
    kill -0 "$JOB" 2>/dev/null && [ "$SECONDS" -lt "$end" ] || life_failed
    sleep 0.05
  done
  cut "$2"
}

# found WORDS: what the life has found, WORDS before each line.
found() { sed -n "s/^cut: /$1: /p" "$GUEST"/share/outbox/*.out; }
