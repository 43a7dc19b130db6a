#!/usr/bin/env bash
# examples/python/rdma.py over RDMA. Needs an RDMA device at FARVEC_LAB_SELF (scripts/lab/lab.sh run
# gives it) and the package `farvec`.
#   example_test.sh PYTHON
set -euo pipefail
example="$(dirname "$0")/../../examples/python/rdma.py"
printed="$("$1" -B "$example" "$FARVEC_LAB_SELF" --rows 1000)"
echo "$printed"
grep -q '^verbs: recall@10 0\.9' <<<"$printed" && grep -qx 'the same neighbours' <<<"$printed"
