#!/usr/bin/env bash
# Searches over RDMA. Needs an RDMA device at FARVEC_LAB_SELF (scripts/lab/lab.sh run gives both).
#   search_test.sh BIN_DIR
set -euo pipefail
exec "$(dirname "$0")/../e2e/remote_search_test.sh" "$1" verbs --rdma "$FARVEC_LAB_SELF"
