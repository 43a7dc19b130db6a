#!/usr/bin/env bash
# One guest's part of delayed_wire.sh, in the folder of the index: 0 is the memory node, 1 sweeps.
#   delayed_wire_guest.sh BIN_DIR SWEEP_OPTION...
set -euo pipefail
BIN="$1"
source "$(dirname "${BASH_SOURCE[0]}")/../lab/pair.sh"

sweep() {
  local status=0
  await_peer_node
  "$BIN/farvec" sweep --index index --queries query.u8bin --groundtruth truth.ibin --k 10 \
    --width 1 --threads 1 "$@" --json "$FARVEC_LAB_OUT/delayed_wire.json" --overwrite \
    --tier "verbs:$FARVEC_LAB_PEER:$CONTROL,fabric:tcp:$FARVEC_LAB_PEER:$CONTROL" || status=$?
  tell_peer
  return "$status"
}

if [ "$FARVEC_LAB_GUEST" = 0 ]; then
  start_peer_node index
  await_peer 550
  end_peer_node
else
  sweep "${@:2}"
fi
