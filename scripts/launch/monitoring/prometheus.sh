#!/usr/bin/env bash
# Runs prometheus or promtool, this machine's or that of Debian's package, of which nothing is installed:
#   scripts/launch/monitoring/prometheus.sh promtool check rules scripts/launch/monitoring/alerts.yml
#   scripts/launch/monitoring/prometheus.sh prometheus --config.file=prometheus.yml
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../common.sh"

FOLDER="$ROOT/build/prometheus"
case "${1:-}" in
  prometheus | promtool) PROGRAM="$1" ;;
  *) sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
shift
if command -v "$PROGRAM" >/dev/null; then exec "$PROGRAM" "$@"; fi
if [ ! -x "$FOLDER/$PROGRAM" ]; then
  TEMPORARY="$(mktemp -d)"
  trap 'rm -rf "$TEMPORARY"' EXIT
  (cd "$TEMPORARY" && timeout 120 apt-get download -qq prometheus >log 2>&1) ||
    die "no $PROGRAM here, and apt-get cannot fetch the package prometheus: $(tail -n 1 "$TEMPORARY/log")"
  dpkg-deb -x "$TEMPORARY"/prometheus_*.deb "$TEMPORARY/root"
  mkdir -p "$FOLDER"
  # Moved as a whole: another process may do the same.
  cp "$TEMPORARY/root/usr/bin/$PROGRAM" "$FOLDER/$PROGRAM.$$"
  mv "$FOLDER/$PROGRAM.$$" "$FOLDER/$PROGRAM"
  rm -rf "$TEMPORARY"
fi
exec "$FOLDER/$PROGRAM" "$@"
