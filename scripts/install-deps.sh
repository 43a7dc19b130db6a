#!/usr/bin/env bash
# Installs the packages that farvec needs. Does nothing when all are there.
#   scripts/install-deps.sh             what building, testing and plotting need (through sudo when
#                                       not root)
#   scripts/install-deps.sh --programs  what the demo needs: building the programs, and plotting
#   scripts/install-deps.sh --check     only say what is missing, of all or with --programs; exit
#                                       status 1 when something is
set -euo pipefail

PROGRAMS=(
  # tools
  g++ cmake ninja-build pkgconf git ca-certificates curl
  protobuf-compiler protobuf-compiler-grpc
  python3 python3-numpy python3-matplotlib python3-scipy python3-yaml
  # libraries
  libboost-context-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libyaml-cpp-dev
  libeigen3-dev libisal-dev libhdf5-dev zlib1g-dev libxxhash-dev libnuma-dev libroaring-dev
  libibverbs-dev librdmacm-dev libfabric-dev liburing-dev
  libpmem2-dev libndctl-dev libdaxctl-dev
  libssl-dev libgrpc++-dev libprotobuf-dev prometheus-cpp-dev
  # what the pages of reports draw with
  libjs-chart.js
  # the data set of the demo and of the end-to-end tests
  dataset-fashion-mnist
)
TESTS=(
  libgtest-dev libgmock-dev libbenchmark-dev
  # a linker that is six times as fast
  lld
  # sanitizers' reports, fuzzing, lint
  clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev
  # peers, and the example of a client in Python
  python3-dev python3-venv python3-grpcio
  # certificates
  openssl
  # libfabric's own measurements
  libfabric-bin
  # the solver with which a test compares the grouping
  coinor-cbc
  # what farvec bench disk is measured beside
  fio
  # the lab: guests with soft-RoCE for machines without RDMA
  qemu-system-x86 busybox-static cpio e2fsprogs kmod iproute2 procps
  ndctl daxctl
  rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest
  # launching: copies of indexes, and a Slurm that a test starts
  openssh-client rsync slurmctld slurmd slurm-client munge
  # Debian packages: made, checked, and installed in a root of their own
  dpkg-dev adduser
)

# The browser that tests of pages want; Ubuntu has it as a snap alone, and they skip there. PostgreSQL
# with what extensions are compiled with: each system has a version of its own.
DEBIAN_TESTS=(chromium-headless-shell postgresql-15 postgresql-server-dev-15)
UBUNTU_TESTS=(postgresql-16 postgresql-server-dev-16)

usage() { sed -n '2,7s/^# \{0,1\}//p' "$0"; }

system_name() {
  # shellcheck disable=SC1091
  (. /etc/os-release 2>/dev/null && echo "${ID:-unknown} ${VERSION_ID:-}") || echo unknown
}

# Every other name above is the same on both supported systems; elsewhere apt may not know some of them.
check_system() {
  case "$(system_name)" in
    "debian 12" | "ubuntu 24.04") return ;;
  esac
  echo "warning: farvec is tested on Debian 12 and Ubuntu 24.04; this is '$(system_name)'." >&2
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "error: no apt-get here. Install the equivalents of these Debian packages by hand:" >&2
    printf '  %s\n' "${PACKAGES[@]}" >&2
    exit 1
  fi
}

missing_packages() {
  local installed
  installed="$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${PACKAGES[@]}" 2>/dev/null |
    awk '$2 == "installed" { print $1 }' || true)"
  comm -23 <(printf '%s\n' "${PACKAGES[@]}" | sort -u) <(printf '%s\n' "$installed" | sort -u)
}

install() {
  local run=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "error: not root and no sudo. As root, run: apt-get install $*" >&2
      exit 1
    }
    run=(sudo)
  fi
  # The time limit is inside sudo, which may ask for a password on the terminal.
  local apt=(env DEBIAN_FRONTEND=noninteractive timeout 1800 apt-get -o Acquire::Retries=3)
  "${run[@]}" "${apt[@]}" update
  "${run[@]}" "${apt[@]}" install -y --no-install-recommends "$@" && return
  echo "error: apt-get could not install: $*" >&2
  echo "On Ubuntu, enable the universe component (add-apt-repository universe) and try again." >&2
  exit 1
}

CHECK=false
PACKAGES=("${PROGRAMS[@]}" "${TESTS[@]}")
for argument in "$@"; do
  case "$argument" in
    --check) CHECK=true ;;
    --programs) PACKAGES=("${PROGRAMS[@]}") ;;
    -h | --help) usage; exit 0 ;;
    *) echo "error: unknown argument '$argument'" >&2; usage >&2; exit 2 ;;
  esac
done

if [ "${#PACKAGES[@]}" -gt "${#PROGRAMS[@]}" ]; then
  case "$(system_name)" in
    debian*) PACKAGES+=("${DEBIAN_TESTS[@]}") ;;
    ubuntu*) PACKAGES+=("${UBUNTU_TESTS[@]}") ;;
  esac
fi
check_system
mapfile -t missing < <(missing_packages)
if [ "${#missing[@]}" -eq 0 ]; then
  exit 0
fi
echo "Missing packages: ${missing[*]}"
if "$CHECK"; then
  exit 1
fi
install "${missing[@]}"
