#!/usr/bin/env bash
# Runs promtool, this machine's or that of Debian's package, of which nothing is installed:
#   scripts/launch/monitoring/promtool.sh check rules scripts/launch/monitoring/alerts.yml
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../common.sh"

FOLDER="$ROOT/build/promtool"
if command -v promtool >/dev/null; then exec promtool "$@"; fi
if [ ! -x "$FOLDER/promtool" ]; then
  TEMPORARY="$(mktemp -d)"
  trap 'rm -rf "$TEMPORARY"' EXIT
  (cd "$TEMPORARY" && timeout 120 apt-get download -qq prometheus >log 2>&1) ||
    die "no promtool here, and apt-get cannot fetch the package prometheus: $(tail -n 1 "$TEMPORARY/log")"
  dpkg-deb -x "$TEMPORARY"/prometheus_*.deb "$TEMPORARY/root"
  mkdir -p "$FOLDER"
  # Moved as a whole: another process may do the same.
  cp "$TEMPORARY/root/usr/bin/promtool" "$FOLDER/promtool.$$"
  mv "$FOLDER/promtool.$$" "$FOLDER/promtool"
  rm -rf "$TEMPORARY"
fi
exec "$FOLDER/promtool" "$@"
