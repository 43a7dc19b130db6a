#!/usr/bin/env bash
# launch.sh in two lab guests over soft-RoCE: from the first one, over ssh, up to two memory nodes
# and two compute nodes, a sweep with the recall of the index in local memory, and down with nothing
# left running in either.
#   launch_test.sh BIN_DIR                   on the machine
#   launch_test.sh BIN_DIR --guest FOLDER    in each guest; FOLDER has the index, keys and the launch
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
SCRIPTS="$(cd "$HERE/../../scripts" && pwd)"
BIN="$(cd "$1" && pwd)"
LIST=20 PORT=2222

# Emulated processors: a key and a cipher that they are quick at, one connection for all commands.
ssh_options() {
  printf '%s\n' -F none -p "$PORT" -i "$1/user" -o ConnectTimeout=60 -o ControlMaster=auto \
    -o ControlPath=/tmp/ssh-%C -o ControlPersist=300 -o StrictHostKeyChecking=no \
    -o UserKnownHostsFile=/tmp/known -o LogLevel=ERROR -o Ciphers=chacha20-poly1305@openssh.com \
    -o KexAlgorithms=curve25519-sha256
}

write_sshd_config() {
  cat >sshd_config <<END
Port $PORT
HostKey $FOLDER/host
AuthorizedKeysFile $FOLDER/user.pub
StrictModes no
UsePAM no
UseDNS no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PidFile none
END
}

write_cluster() {
  local options node
  options="$(ssh_options "$FOLDER" | sed 's/.*/"&"/' | paste -sd,)"
  cat >launch.toml <<END
name = "guests"
launcher = "ssh"
bin_dir = "$BIN"
run_dir = "/tmp/farvec-run"
transport.tier = "verbs"
placement = { index = "$FOLDER/index", shared = true }
tls.insecure = true
limits = { start_seconds = 120, command_seconds = 120 }
sweep = { queries = "$FOLDER/query.u8bin", groundtruth = "$FOLDER/truth.ibin", list = [$LIST], passes = 1 }
ssh = { pdsh = false, options = [$options] }
END
  for node in 0 1; do
    printf '[[node]]\nname = "n%s"\nhost = "10.77.0.%s"\nroles = ["memory", "compute"]\n' \
      "$node" "$((node + 1))" >>launch.toml
  done
}

make_all() {
  make_index 2000
  take_images 2000:2050 query.u8bin
  "$BIN/farvec" dataset groundtruth --data base.u8bin --queries query.u8bin --metric l2 --k 10 \
    --out truth.ibin
  "$BIN/farvec" place --index index --nodes 2
  ssh-keygen -q -t ed25519 -N "" -f host
  ssh-keygen -q -t ed25519 -N "" -f user
  write_sshd_config
  write_cluster
}

check_figures() {
  "$BIN/farvec" search --index index --queries query.u8bin --groundtruth truth.ibin --k 10 \
    --list "$LIST" --json >local.json
  /usr/bin/python3 - local.json "$1" <<'END'
import json, sys
local, line = (json.load(open(path)) for path in sys.argv[1:])
recalls = [node["recall"] for node in line["nodes"]]
print("recall", local["recall"], "in the guests", recalls)
sys.exit(recalls != [local["recall"]] * 2 or line["tier"] != "verbs")
END
}

# The guest's root has this machine's start files, and what they run is slow there; removed from the
# guest's overlay alone.
start_sshd() {
  rm -f /root/.bashrc
  mkdir -p /run/sshd
  /usr/sbin/sshd -D -e -f "$1/sshd_config" 2>/tmp/sshd.log &
  SSHD=$!
}

none_runs() {
  if pgrep -f 'farvec-(memory|compute)-node' >&2; then
    echo "FAILED: still running in guest $FARVEC_LAB_GUEST" >&2
    return 1
  fi
}

# launch EXPECTED ACTION ARGUMENT...: within 120 s, with the text EXPECTED in what it prints.
launch() {
  local expected="$1" start=$SECONDS
  timeout 120 "$SCRIPTS/launch/launch.sh" "$2" --config /tmp/launch.toml "${@:3}" \
    >/tmp/launch.log 2>&1 || { cat /tmp/launch.log /tmp/sshd.log >&2; return 1; }
  cat /tmp/launch.log
  echo "$2: $((SECONDS - start)) s"
  grep -q "$expected" /tmp/launch.log
}

await_sshd() {
  local end=$((SECONDS + 60))
  until (exec 3<>"/dev/tcp/$1/$PORT") 2>/dev/null; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.2
  done
}

launch_all() {
  cp "$1/launch.toml" /tmp
  await_sshd "$FARVEC_LAB_SELF" && await_sshd "$FARVEC_LAB_PEER"
  launch "4 daemons serve" up &&
    launch "n1.compute.*serving" status &&
    launch "recall@10" sweep --out "$FARVEC_LAB_OUT/figures" &&
    launch "nothing is left running" down
}

if [ "${2:-}" = --guest ]; then
  source "$SCRIPTS/lab/pair.sh"
  start_sshd "$3"
  STATUS=0
  if [ "$FARVEC_LAB_GUEST" = 0 ]; then
    launch_all "$3" || STATUS=$?
    tell_peer
  else
    await_peer 300
  fi
  none_runs || STATUS=1
  kill "$SSHD"
  exit "$STATUS"
fi

for program in /usr/sbin/sshd ssh; do
  command -v "$program" >/dev/null || { echo "skipped: there is no $program" >&2; exit 77; }
done
LAB="$SCRIPTS/../build/lab"
mkdir -p "$LAB"
export TMPDIR="$LAB" # the guests have a /tmp of their own
NODE_FLAGS=()
source "$SCRIPTS/memory_node.sh"
make_all
"$SCRIPTS/lab/lab.sh" run --guests 2 --timeout 400 -- "$HERE/launch_test.sh" "$BIN" --guest "$FOLDER"
check_figures "$LAB/guest0/share/out/figures/sweep.jsonl"
