# The guests of scripts/lab/lab.sh, seen from the host: source it, do not run it.
#
# A guest boots Debian's kernel, unpacked and not installed, with a small initramfs; its root is this
# machine's / over 9p, read-only, under a tmpfs overlay. Jobs go through a shared folder per guest:
# the host writes inbox/N, the guest's agent runs it into outbox/N.out and then writes
# outbox/N.status.
LAB="$ROOT/build/lab"
LAB_MODULES=(virtio_pci 9p 9pnet_virtio overlay)
LAB_RDMA_MODULES=(virtio_net crc32_generic veth ib_uverbs rdma_ucm rdma_rxe sch_netem)
LAB_PMEM_MODULES=(nfit nd_pmem dax_pmem device_dax kmem cxl_acpi cxl_pci cxl_mem cxl_pmem)
LAB_DISK_MODULES=(virtio_blk ext4)
LAB_BOOT_SECONDS="${FARVEC_LAB_BOOT_SECONDS:-240}"

kernel_package() {
  apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends:/ { print $2; exit }'
}

# fetch_kernel: the kernel that Debian's meta package stands for, below build/lab/kernel. What comes
# from standard output is a command's in the guest, and nothing of this.
fetch_kernel() {
  local package
  [ ! -e "$LAB/kernel/vmlinux" ] || return 0
  package="$(kernel_package)"
  if [ -z "$package" ] && [ "$(id -u)" -eq 0 ]; then
    timeout 600 apt-get -o Acquire::Retries=3 update >&2
    package="$(kernel_package)"
  fi
  [ -n "$package" ] || die "apt knows no linux-image-amd64: run apt-get update as root"
  say "Fetching $package for the lab's guests" >&2
  rm -rf "$LAB/kernel"
  mkdir -p "$LAB/kernel"
  (cd "$LAB/kernel" && timeout 600 apt-get -o APT::Sandbox::User=root download "$package" >&2) ||
    die "$package could not be downloaded"
  dpkg -x "$LAB/kernel/"*.deb "$LAB/kernel"
  rm "$LAB/kernel/"*.deb
  depmod -b "$LAB/kernel" "$(kernel_version)"
  unpack_kernel
}

# unpack_kernel: the ELF file inside the package's image, which QEMU starts as it is: emulated, the
# image takes longer to unpack itself than the kernel to boot.
unpack_kernel() {
  local image start
  image="$LAB/kernel/boot/vmlinuz-$(kernel_version)"
  start="$(LC_ALL=C grep -obUaP -m 1 '\xfd7zXZ(?=\x00)' "$image" | head -n 1)"
  [ -n "$start" ] || die "$image is not compressed by xz, as Debian's kernels are"
  tail -c +$((${start%%:*} + 1)) "$image" | xz --decompress --single-stream --stdout \
    >"$LAB/kernel/.vmlinux" || true # what follows the stream is not xz's
  mv "$LAB/kernel/.vmlinux" "$LAB/kernel/vmlinux"
}

kernel_version() { basename "$LAB/kernel/lib/modules/"*; }

# module_files: the files of the modules that this lab needs and what they need, in the order of
# loading.
module_files() {
  local module
  for module in "${LAB_MODULES[@]}" ${RDMA:+"${LAB_RDMA_MODULES[@]}"} \
    ${PMEM:+"${LAB_PMEM_MODULES[@]}"} ${DISK:+"${LAB_DISK_MODULES[@]}"}; do
    # Not by this machine's own rules: ndctl's package has one for libnvdimm.
    modprobe --config /dev/null --dirname "$LAB/kernel" --set-version "$(kernel_version)" \
      --show-depends "$module" |
      awk '$1 == "insmod" { print $2 }'
  done | awk '!seen[$0]++'
}

make_initramfs() {
  local tree="$LAB/initramfs" file
  rm -rf "$tree"
  mkdir -p "$tree"/{bin,modules,dev,proc,sys,host,over,checkout,root}
  cp "$(command -v busybox)" "$tree/bin/busybox"
  cp "$ROOT/scripts/lab/init" "$tree/init"
  chmod +x "$tree/init"
  while read -r file; do
    cp "$file" "$tree/modules/"
    basename "$file" >>"$tree/modules/order"
  done < <(module_files)
  (cd "$tree" && find . | cpio --quiet -o -H newc | gzip -1) >"$LAB/initramfs.gz"
}

# require_plain_root: the checkout's path goes into QEMU's options and the kernel's command line.
require_plain_root() {
  case "$ROOT" in
    *[!A-Za-z0-9_./+@-]*)
      die "the lab cannot run from '$ROOT': it takes a path of letters, digits and _./+@- alone;" \
        "move the checkout" ;;
  esac
}

# require_seen FOLDER: a guest has file systems of its own over some of this machine's folders, and
# sees nothing below those but the checkout.
require_seen() {
  case "$1/" in
    "$(realpath "$ROOT")/"*) ;;
    /tmp/* | /run/* | /dev/* | /proc/* | /sys/* | /mnt/lab/*)
      die "a guest does not see $1: start the command in the checkout ($ROOT), or in a folder that" \
        "is not below /tmp, /run, /dev, /proc, /sys or /mnt/lab" ;;
  esac
}

prepare_lab() {
  require_plain_root
  mkdir -p "$LAB"
  fetch_kernel
  make_initramfs
}

guest_folder() { echo "$LAB/guest$1"; }

guest_is_up() {
  local pid
  pid="$(cat "$(guest_folder "$1")/pid" 2>/dev/null)" && kill -0 "$pid" 2>/dev/null
}

guests_are_up() {
  local guest
  for ((guest = 0; guest < GUESTS; guest++)); do guest_is_up "$guest" || return 1; done
}

# wire GUEST: QEMU's arguments for the network between two guests; nothing for one.
wire() {
  [ "$GUESTS" = 2 ] || return 0
  local role=listen
  [ "$1" = 0 ] || role=connect
  echo "-netdev socket,id=wire,$role=127.0.0.1:$WIRE_PORT" \
    "-device virtio-net-pci,netdev=wire,host_mtu=4200,mac=52:54:00:00:00:0$1"
}

# Labels of namespaces take the end of an NVDIMM's file.
LAB_NVDIMM_LABEL_MIB=2
LAB_CXL_LABEL_MIB=1

# images_folder GUEST
images_folder() { echo "${IMAGES:-$(guest_folder "$1")/images}"; }

# make_images GUEST: the bytes of its devices, unless they are there. Labels of CXL memory name a
# region that is made anew with each boot: a namespace is made over the same bytes again. Of two
# guests, the second one has the CXL memory of the first, and labels of its own.
make_images() {
  local folder
  folder="$(images_folder "$1")"
  rm -f "$folder/cxl-labels"
  mkdir -p "$folder"
  [ "$1" = 0 ] || ln -sf "$(images_folder 0)/cxl" "$folder/cxl"
  [ -e "$folder/nvdimm" ] || truncate -s $((PMEM + LAB_NVDIMM_LABEL_MIB))M "$folder/nvdimm"
  [ -e "$folder/cxl" ] || truncate -s "$PMEM"M "$folder/cxl"
  truncate -s "$LAB_CXL_LABEL_MIB"M "$folder/cxl-labels"
}

# memory_devices FOLDER: QEMU's arguments for them; nothing without --pmem. With one root port QEMU
# 7.2 maps CXL memory of which every read is zero.
memory_devices() {
  [ -n "$PMEM" ] || return 0
  local nvdimm=$((PMEM + LAB_NVDIMM_LABEL_MIB))M
  echo "-object memory-backend-file,id=nv,share=on,mem-path=$1/nvdimm,size=$nvdimm,align=2M" \
    "-device nvdimm,id=nvdimm0,memdev=nv,unarmed=off,label-size=${LAB_NVDIMM_LABEL_MIB}M" \
    "-object memory-backend-file,id=cx,share=on,mem-path=$1/cxl,size=${PMEM}M" \
    "-object memory-backend-file,id=cl,share=on,mem-path=$1/cxl-labels,size=${LAB_CXL_LABEL_MIB}M" \
    "-device pxb-cxl,bus_nr=12,bus=pcie.0,id=cxl.1" \
    "-device cxl-rp,port=0,bus=cxl.1,id=port0,chassis=0,slot=2" \
    "-device cxl-rp,port=1,bus=cxl.1,id=port1,chassis=0,slot=3" \
    "-device cxl-type3,bus=port0,memdev=cx,lsa=cl,id=cxl-pmem0" \
    "-M cxl-fmw.0.targets.0=cxl.1,cxl-fmw.0.size=4G"
}

# start_disk GUEST: a disk whose write cache is lost with QEMU, and its file system unless there is one.
# Who serves it waits until the one before has left the image, and ends with QEMU.
start_disk() {
  local image
  image="$(images_folder "$1")/disk"
  mkdir -p "${image%/*}"
  if [ ! -e "$image" ]; then
    rm -f "$image.new"
    truncate -s "$DISK"M "$image.new"
    mkfs.ext4 -q -b 4096 -m 0 "$image.new"
    mv "$image.new" "$image"
  fi
  setsid "$PYTHON" -B "$ROOT/scripts/lab/disk.py" "$image" "$(guest_folder "$1")/disk" \
    >"$(guest_folder "$1")/disk.log" 2>&1 </dev/null &
  echo $! >"$(guest_folder "$1")/disk.pid"
}

# disk_device FOLDER: QEMU's arguments for it; nothing without --disk.
disk_device() {
  [ -n "$DISK" ] || return 0
  echo "-blockdev driver=nbd,node-name=disk,server.type=unix,server.path=$1/disk,open-timeout=60" \
    "-device virtio-blk-pci,drive=disk,write-cache=on,physical_block_size=4096"
}

# no_timer_check: on a busy machine the emulated timer is late, for which the kernel would end.
start_guest() {
  local folder machine=q35 memory="$MEMORY" accel=tcg,thread=multi
  folder="$(guest_folder "$1")"
  rm -rf "$folder"
  mkdir -p "$folder/share/inbox" "$folder/share/outbox" "$folder/share/out"
  [ "$ACCEL" = tcg ] || accel=kvm
  if [ -n "$PMEM" ]; then
    make_images "$1"
    machine=q35,nvdimm=on,cxl=on
    memory="${MEMORY}M,slots=4,maxmem=$((MEMORY + 4 * PMEM + 1024))M"
  fi
  [ -z "$DISK" ] || start_disk "$1"
  # shellcheck disable=SC2046
  setsid qemu-system-x86_64 -accel "$accel" -cpu max -machine "$machine" -smp "$PROCESSORS" \
    -m "$memory" -nographic -no-reboot -nodefaults -serial "file:$folder/console.log" \
    -kernel "$LAB/kernel/vmlinux" -initrd "$LAB/initramfs.gz" \
    -append "console=ttyS0 quiet panic=-1 no_timer_check lab.guest=$1 lab.guests=$GUESTS lab.delay=${DELAY:-0} \
lab.pmem=${PMEM:-0} lab.disk=${DISK:-0} lab.rdma=${RDMA:+1} lab.root=$(realpath "$ROOT")" \
    -virtfs "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap" \
    -virtfs "local,path=$folder/share,mount_tag=share,security_model=none" \
    $(wire "$1") $(memory_devices "$(images_folder "$1")") $(disk_device "$folder") \
    >"$folder/qemu.log" 2>&1 </dev/null &
  echo $! >"$folder/pid"
}

# await_wire: until guest 0 listens; the other one does not try twice.
await_wire() {
  local end=$((SECONDS + LAB_BOOT_SECONDS)) listening
  listening="$(printf '0100007F:%04X 00000000:0000 0A' "$WIRE_PORT")"
  until grep -q "$listening" /proc/net/tcp; do
    guest_is_up 0 || guest_failed 0 "guest 0 died before it listened for the other one"
    [ "$SECONDS" -le "$end" ] || guest_failed 0 "guest 0 does not listen for the other one"
    sleep 0.1
  done
}

start_guests() {
  local guest
  guests_are_up && return
  prepare_lab
  WIRE_PORT=$((20000 + RANDOM % 10000))
  for ((guest = 0; guest < GUESTS; guest++)); do
    start_guest "$guest"
    [ "$GUESTS" = 1 ] || await_wire
  done
  for ((guest = 0; guest < GUESTS; guest++)); do await_boot "$guest"; done
}

# show_console GUEST: the end of what it and QEMU have said, and after it what the lab has said there: a
# kernel that ends says more than 50 lines.
show_console() {
  tail -q -n 50 "$(guest_folder "$1")"/{disk,qemu,console}.log >&2 2>/dev/null || true
  grep -a '^lab: ' "$(guest_folder "$1")/console.log" >&2 2>/dev/null || true
}

# guest_failed GUEST MESSAGE
guest_failed() {
  show_console "$1"
  stop_guests
  die "$2 (its console's end is above)"
}

await_boot() {
  local folder end=$((SECONDS + LAB_BOOT_SECONDS))
  folder="$(guest_folder "$1")"
  until [ -e "$folder/share/ready" ]; do
    guest_is_up "$1" || guest_failed "$1" "guest $1 died while it booted"
    [ "$SECONDS" -le "$end" ] ||
      guest_failed "$1" "guest $1 lives, but was not ready within $LAB_BOOT_SECONDS s"
    sleep 0.2
  done
}

# write_job GUEST NUMBER COMMAND...
write_job() {
  local inbox
  inbox="$(guest_folder "$1")/share/inbox"
  {
    printf 'cd %q\n' "$PWD"
    printf 'export PATH=%q\n' "$PATH"
    env | grep -E '^(FARVEC|GTEST|ASAN|UBSAN)_' | grep -v '^FARVEC_LAB_' | while IFS= read -r pair; do
      printf 'export %q\n' "$pair"
    done
    printf '%q ' "${@:3}"
    printf '\n'
  } >"$inbox/.$2"
  mv "$inbox/.$2" "$inbox/$2"
}

# run_in_guests COMMAND...: in every guest at once; the first that fails gives the status.
run_in_guests() {
  local guest number status worst=0
  number="$(date +%s%N)"
  for ((guest = 0; guest < GUESTS; guest++)); do write_job "$guest" "$number" "$@"; done
  for ((guest = GUESTS - 1; guest >= 0; guest--)); do
    status=0
    await_job "$guest" "$number" || status=$?
    [ "$status" -eq 0 ] || worst=$status
  done
  return "$worst"
}

# await_job GUEST NUMBER: copies the job's output while it runs; its status.
await_job() {
  local folder outbox end=$((SECONDS + TIMEOUT)) tail_pid status
  folder="$(guest_folder "$1")"
  outbox="$folder/share/outbox"
  touch "$outbox/$2.out"
  tail -n +1 -f --pid=$$ "$outbox/$2.out" &
  tail_pid=$!
  until [ -e "$outbox/$2.status" ]; do
    if [ "$SECONDS" -gt "$end" ]; then
      kill "$tail_pid"
      touch "$folder/share/inbox/$2.kill"
      echo "error: guest $1 was not done within $TIMEOUT s" >&2
      return 124
    fi
    if ! guest_is_up "$1"; then
      kill "$tail_pid"
      show_console "$1"
      echo "error: guest $1 went down (its console's end is above)" >&2
      return 125
    fi
    sleep 0.2
  done
  sleep 0.3 # the last lines reach tail
  kill "$tail_pid"
  wait "$tail_pid" 2>/dev/null || true
  status="$(cat "$outbox/$2.status")"
  return "$status"
}

stop_guests() {
  local guest pid
  for guest in 0 1; do
    pid="$(cat "$(guest_folder "$guest")/pid" 2>/dev/null)" || continue
    kill -TERM "$pid" 2>/dev/null || true
    timeout 10 tail --pid="$pid" -f /dev/null || kill -KILL "$pid" 2>/dev/null || true
    rm -f "$(guest_folder "$guest")/pid"
  done
}
