#!/usr/bin/env bash
# The lab of a checkout in the system's temporary folder, over which a guest lays a file system of
# its own; and what the lab says when a guest dies, or cannot see what it would run.
#   clone_test.sh
set -euo pipefail
source "$(dirname "$0")/../../scripts/common.sh"

CLONE="$(mktemp -d)"
LAB_SH="$CLONE/scripts/lab/lab.sh"
finish() {
  local status=$?
  "$LAB_SH" down || true
  rm -rf "$CLONE"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

mkdir -p "$CLONE/scripts" "$CLONE/build/lab"
cp "$ROOT/scripts/common.sh" "$CLONE/scripts/"
cp -r "$ROOT/scripts/lab" "$CLONE/scripts/"
# The kernel is fetched once for both.
if [ -e "$ROOT/build/lab/kernel/vmlinux" ]; then
  ln -s "$ROOT/build/lab/kernel" "$CLONE/build/lab/kernel"
fi
echo "seen by the guest" >"$CLONE/file"

# says TEXT FOLDER COMMAND...: COMMAND, run in FOLDER, fails and says TEXT.
says() {
  local text="$1" folder="$2" said
  shift 2
  if said="$(cd "$folder" && "$@" 2>&1)"; then die "$* passed: $said"; fi
  grep -qF "$text" <<<"$said" || die "'$text' is not in what $* says: $said"
}

found="$(cd "$CLONE/scripts" && "$LAB_SH" run --guest -- cat ../file)"
[ "$found" = "seen by the guest" ] || die "a guest of the clone says '$found'"

# The guest's first process ends: its kernel gives up long before the time for booting is over.
echo 'exit 3' >"$CLONE/scripts/lab/agent.sh"
says "guest 0 died while it booted" "$CLONE" "$LAB_SH" run --guest -- true

# Refused before a guest is started.
says "does not see" "$(dirname "$CLONE")" "$LAB_SH" run --guest -- true
mkdir "$CLONE/two words"
cp -r "$CLONE/scripts" "$CLONE/two words/"
says "it takes a path of" "$CLONE/two words" "$CLONE/two words/scripts/lab/lab.sh" run --guest -- true
