#!/usr/bin/env bash
# Makes the site of the documentation, from README, CONTRIBUTING, CHANGES and docs/. Checks every link.
#   scripts/docs/site.sh [FOLDER]    (default: build/site; index.html is its first page)
# What makes it comes from PyPI into build/docs-venv, once.
set -euo pipefail
source "$(dirname "$0")/../common.sh"

OUT="${1:-$ROOT/build/site}"
case "$OUT" in
  -h | --help) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
OUT="$(realpath -m "$OUT")"
INTERPRETER="$("$ROOT/scripts/python/venv.sh" "$ROOT/build/docs-venv" mkdocs==1.6.1 \
  mkdocs-material==9.8.2)"
NO_MKDOCS_2_WARNING=1 timeout --foreground 300 "$INTERPRETER" -m mkdocs build --quiet --strict \
  --config-file "$ROOT/scripts/docs/mkdocs.yml" --site-dir "$OUT" || die "the site was not built"
echo "$OUT/index.html"
