#!/bin/bash
# Inside a lab guest: brings up the network and soft-RoCE, then runs what the host puts into the
# inbox until the guest is stopped. Started by scripts/lab/init as the guest's first process.
set -u
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root

option() { sed -n "s/.*lab\.$1=\([^ ]*\).*/\1/p" /proc/cmdline; }

GUEST="$(option guest)"
DEVICE="" SELF="" PEER=""
SHARE=/mnt/lab

# One guest talks to itself through a pair of virtual devices; two through QEMU's wire.
bring_up_network() {
  hostname "lab$GUEST"
  ip link set lo up
  if [ "$(option guests)" = 2 ]; then
    DEVICE=eth0
  else
    DEVICE=v0
    ip link add v0 type veth peer name v1
    ip link set v1 mtu 4200 up
  fi
  ip link set "$DEVICE" mtu 4200 up
  SELF="10.77.0.$((GUEST + 1))"
  PEER="$SELF"
  if [ "$(option guests)" = 2 ]; then PEER="10.77.0.$((2 - GUEST))"; fi
  ip addr add "$SELF/24" dev "$DEVICE"
  rdma link add rxe0 type rxe netdev "$DEVICE"
  if [ "$(option delay)" != 0 ]; then
    tc qdisc add dev "$DEVICE" root netem delay "$(option delay)" limit 10000
  fi
}

# first_of FIELD: of the JSON that ndctl prints.
first_of() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1; }

# failed MESSAGE: ends the guest, and so its boot; the host shows what stands on the console.
failed() {
  echo "lab: $1"
  exit 1
}

# await SECONDS COMMAND...: until the command succeeds, at most that long. The kernel brings devices up in
# threads of its own, and a tool that makes one comes back before all of it is there.
await() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.2
  done
}

MEMORY_SECONDS=60

# look_at PROVIDER: sets FOUND to what is on this provider's bus, and REGION and CHARACTER to the names of
# its region and of its devdax device, empty while there is none. A call of ndctl takes a second here.
look_at() {
  FOUND="$(ndctl list -RN -b "$1")"
  REGION="$(grep -o '"dev":"region[^"]*"' <<<"$FOUND" | first_of dev)"
  CHARACTER="$(first_of chardev <<<"$FOUND")"
}
region_of() { look_at "$1"; [ -n "$REGION" ]; }
device_of() { look_at "$1"; [ -n "$CHARACTER" ]; }

# bring_up_devdax PROVIDER: the device of the first namespace on this provider's bus, which is put into
# that mode, or made in the bus's region; CHARACTER names it. What the kernel knows of its pages lies in
# DRAM: on the device, the default, two guests would write theirs over each other's.
bring_up_devdax() {
  local namespace
  await "$MEMORY_SECONDS" region_of "$1" || failed "the bus $1 has no region after $MEMORY_SECONDS s"
  if [ -n "$CHARACTER" ]; then return; fi
  namespace="$(grep -o '"dev":"namespace[^"]*"' <<<"$FOUND" | first_of dev)"
  ndctl create-namespace -m devdax --map mem -f ${namespace:+-e "$namespace"} -r "$REGION" ||
    failed "ndctl has made no devdax namespace on the bus $1, which has: $FOUND"
  await "$MEMORY_SECONDS" device_of "$1" ||
    failed "the bus $1 has no devdax device after $MEMORY_SECONDS s, but: $FOUND"
}

has_driver() { [ -e "/sys/bus/cxl/devices/$1/driver" ]; }

# CXL memory has no region until somebody makes one, again after each boot; its namespace is found
# again by its labels.
bring_up_memory() {
  await "$MEMORY_SECONDS" has_driver pmem0 ||
    failed "the kernel has found no CXL memory after $MEMORY_SECONDS s"
  cxl create-region -t pmem -m -d decoder0.0 -w 1 mem0 || failed "cxl has made no region"
  export FARVEC_LAB_NVDIMM FARVEC_LAB_CXL
  bring_up_devdax ACPI.NFIT
  FARVEC_LAB_NVDIMM="/dev/$CHARACTER"
  bring_up_devdax CXL
  FARVEC_LAB_CXL="/dev/$CHARACTER"
  echo "lab: NVDIMM $FARVEC_LAB_NVDIMM, CXL $FARVEC_LAB_CXL"
}

# A file system that a cut has left is mounted, never made anew.
bring_up_disk() {
  export FARVEC_LAB_DISK=/run/lab-disk
  mkdir "$FARVEC_LAB_DISK"
  mount -t ext4 /dev/vda "$FARVEC_LAB_DISK" || failed "the disk cannot be mounted"
  echo "lab: disk $FARVEC_LAB_DISK, $(cat /sys/block/vda/queue/write_cache)"
}

run_job() {
  local number="$1" pid
  FARVEC_LAB_GUEST="$GUEST" FARVEC_LAB_SELF="$SELF" FARVEC_LAB_PEER="$PEER" FARVEC_LAB_LINK="$DEVICE" \
    FARVEC_LAB_OUT="$SHARE/out" setsid bash "$SHARE/inbox/$number" \
    </dev/null >"$SHARE/outbox/$number.out" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    if [ -e "$SHARE/inbox/$number.kill" ]; then kill -KILL -- "-$pid"; fi
    sleep 0.1
  done
  wait "$pid"
  echo $? >"$SHARE/outbox/.$number"
  mv "$SHARE/outbox/.$number" "$SHARE/outbox/$number.status"
}

ulimit -l unlimited
if [ "$(option rdma)" = 1 ]; then bring_up_network; fi
if [ "$(option pmem)" != 0 ]; then bring_up_memory; fi
if [ "$(option disk)" != 0 ]; then bring_up_disk; fi
touch "$SHARE/ready"
while true; do
  for job in "$SHARE"/inbox/*; do
    number="$(basename "$job")"
    case "$number" in
      \* | *.kill) continue ;;
    esac
    [ -e "$SHARE/outbox/$number.status" ] || run_job "$number"
  done
  sleep 0.2
done
