#!/usr/bin/env bash
# Runs commands on a machine with RDMA: this one when it has it, else one or two QEMU guests with
# soft-RoCE that run this machine's own programs on a read-only view of its file system.
#   scripts/lab/lab.sh run [OPTIONS] -- COMMAND...   exit status is COMMAND's
#   scripts/lab/lab.sh up [OPTIONS]                  boot the guests, if any, that later runs use
#   scripts/lab/lab.sh down                          stop them
# Options:
#   --guests 1|2     with 2, COMMAND runs in both; see the environment below [1]
#   --delay TIME     latency added to each guest's wire (netem), for example 1ms
#   --timeout S      a run is ended after S seconds [600]
#   --accel tcg|kvm  kvm is faster, and nothing here turns it on by itself [tcg]
#   --guest          use guests even when this machine has RDMA
#   --memory MIB     of each guest [3072]
#   --processors N   of each guest [2]
#   --pmem MIB       an NVDIMM and a CXL device of so many MIB each, both in devdax mode:
#                    FARVEC_LAB_NVDIMM and FARVEC_LAB_CXL name them. Two guests share the CXL
#                    device, and have an NVDIMM each [none]
#   --disk MIB       a disk of so many MiB with ext4: FARVEC_LAB_DISK names the folder where it is
#                    mounted. It has a write cache of its own, which is lost with QEMU's process but
#                    for some blocks, by chance: what a flush has not brought to the disk [none]
#   --no-rdma        a guest without an RDMA device, which boots faster
#   --images FOLDER  where the bytes of devices and disk are, which outlive the guest: another run
#                    goes on with them [the guest's own, new each time]
# COMMAND starts in the folder it was given in; what it writes is lost, except below $FARVEC_LAB_OUT.
# A guest sees this checkout wherever it is, but nothing else that is below the machine's /tmp, /run
# or /dev: it has its own.
# FARVEC_LAB_BOOT_SECONDS, how long a guest may take to boot [240], is for machines that are very busy.
# Environment of COMMAND: FARVEC_LAB_GUEST (0 or 1), FARVEC_LAB_SELF and FARVEC_LAB_PEER (addresses
# of this and the other guest's RDMA device; the same with one guest), FARVEC_LAB_OUT; in a guest
# FARVEC_LAB_LINK, the network device below its RDMA device, which COMMAND may switch off.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
source "$ROOT/scripts/lab/guest.sh"

GUESTS=1 DELAY="" TIMEOUT=600 ACCEL=tcg FORCE_GUEST="" MEMORY=3072 PROCESSORS=2 PMEM="" DISK="" IMAGES="" RDMA=yes

usage() { sed -n '2,33s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

host_has_rdma() {
  [ -z "$FORCE_GUEST" ] && [ "$GUESTS" = 1 ] && [ -z "$DELAY" ] &&
    compgen -G "/sys/class/infiniband/*" >/dev/null
}

# The first IPv4 address on a network device that carries RDMA.
host_address() {
  local device
  for device in /sys/class/infiniband/*/device/net/* /sys/class/infiniband/*/parent; do
    if [ -f "$device" ]; then device="$(cat "$device")"; else device="$(basename "$device")"; fi
    ip -4 -o addr show dev "$device" 2>/dev/null | awk '{ sub("/.*", "", $4); print $4; exit }'
  done | head -n 1
}

run_on_host() {
  local address
  address="$(host_address)"
  [ -n "$address" ] || die "this machine has an RDMA device without an IPv4 address; try --guest"
  mkdir -p "$LAB/out"
  FARVEC_LAB_GUEST=0 FARVEC_LAB_SELF="$address" FARVEC_LAB_PEER="$address" \
    FARVEC_LAB_OUT="$LAB/out" timeout "$TIMEOUT" "$@"
}

run() {
  if host_has_rdma; then
    run_on_host "$@"
    return
  fi
  require_seen "$(pwd -P)"
  local started=""
  if ! guests_are_up; then
    started=yes
    trap stop_guests EXIT
    trap 'exit 130' INT TERM
    start_guests
  fi
  local status=0
  run_in_guests "$@" || status=$?
  if [ -n "$started" ]; then stop_guests; fi
  return "$status"
}

[ $# -gt 0 ] || { usage >&2; exit 2; }
ACTION="$1"
shift
while [ $# -gt 0 ]; do
  case "$1" in
    --guests) GUESTS="$2"; shift 2 ;;
    --delay) DELAY="$2"; shift 2 ;;
    --timeout) TIMEOUT="$2"; shift 2 ;;
    --accel) ACCEL="$2"; shift 2 ;;
    --memory) MEMORY="$2"; shift 2 ;;
    --processors) PROCESSORS="$2"; shift 2 ;;
    --pmem) PMEM="$2" FORCE_GUEST=yes; shift 2 ;;
    --disk) DISK="$2" FORCE_GUEST=yes; shift 2 ;;
    --no-rdma) RDMA="" FORCE_GUEST=yes; shift ;;
    --images) IMAGES="$2"; shift 2 ;;
    --guest) FORCE_GUEST=yes; shift ;;
    --) shift; break ;;
    *) usage >&2; die "unknown argument '$1'" ;;
  esac
done
case "$GUESTS:$ACCEL" in
  1:tcg | 2:tcg | 1:kvm | 2:kvm) ;;
  *) die "--guests takes 1 or 2, --accel tcg or kvm" ;;
esac

case "$PMEM:$DISK" in
  *[!0-9:]*) die "--pmem and --disk take a number of MiB, not '$PMEM$DISK'" ;;
esac
case "$PMEM$DISK:$IMAGES" in
  *:) ;;
  :*) die "--images needs --pmem or --disk" ;;
  *:?*) [ "$GUESTS" = 1 ] || die "--images takes one guest" ;;
esac
case "$((${PMEM:-0} % 256))" in
  0) ;;
  *) die "--pmem takes a multiple of 256 MiB" ;;
esac

case "$ACTION" in
  up) host_has_rdma || start_guests ;;
  down) stop_guests ;;
  run) [ $# -gt 0 ] || die "run: no COMMAND after --"; run "$@" ;;
  -h | --help | help) usage ;;
  *) usage >&2; die "unknown action '$ACTION'" ;;
esac
