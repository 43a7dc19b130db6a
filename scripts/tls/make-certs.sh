#!/usr/bin/env bash
# Makes a test authority, and certificates of it for the daemons and for their clients.
#   scripts/tls/make-certs.sh DIR [--host NAME_OR_IP]... [--client NAME]... [--days N]
#     --host NAME_OR_IP  where daemons are reached, besides localhost, 127.0.0.1 and ::1
#     --client NAME      one more client, with a certificate of its own
#     --days N           how long new certificates hold (default 365; -1: until yesterday, for tests)
# DIR gets ca.crt, and NAME.crt with NAME.key (mode 0600) for "node" (both daemons: serves and
# attaches), "client" (the tool) and every --client. ca.key signs: keep it away from the nodes.
# Run again, it keeps the authority and every pair that still holds for all hosts, and makes the
# rest anew. Give the files to a program as
#   --tls-cert DIR/node.crt --tls-key DIR/node.key --tls-ca DIR/ca.crt
set -euo pipefail

usage() { sed -n '2,12s/^# \{0,1\}//p' "$0"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 2
}

DIRECTORY=""
HOSTS=(localhost 127.0.0.1 ::1)
CLIENTS=(client)
DAYS=365

while [ "$#" -gt 0 ]; do
  case "$1" in
    -h | --help) usage; exit 0 ;;
    --host | --client | --days)
      [ "$#" -gt 1 ] || die "$1 needs a value"
      case "$1" in
        --host) HOSTS+=("$2") ;;
        --client) CLIENTS+=("$2") ;;
        --days) DAYS="$2" ;;
      esac
      shift ;;
    -*) die "unknown option '$1'; see --help" ;;
    *) [ -z "$DIRECTORY" ] || die "one folder only, not '$DIRECTORY' and '$1'"; DIRECTORY="$1" ;;
  esac
  shift
done
[ -n "$DIRECTORY" ] || { usage >&2; exit 2; }
[[ "$DAYS" =~ ^-?[0-9]+$ ]] || die "--days takes a number, not '$DAYS'"
for name in "${HOSTS[@]}" "${CLIENTS[@]}"; do
  [[ "$name" =~ ^[A-Za-z0-9._:-]+$ ]] || die "'$name' is no name and no address"
done
for name in "${CLIENTS[@]}"; do
  case "$name" in ca | node) die "'$name' is the name of another certificate here" ;; esac
done
command -v openssl >/dev/null || die "there is no openssl here; install the package 'openssl'"

umask 077
mkdir -p "$DIRECTORY"
cd "$DIRECTORY"
WORK="$(mktemp -d ./making.XXXXXX)"
trap 'rm -rf "$WORK"' EXIT

# quietly COMMAND...: openssl talks much when all is well.
quietly() {
  "$@" 2>"$WORK/log" || { cat "$WORK/log" >&2; die "this failed: $*"; }
}

is_address() { [[ "$1" =~ ^[0-9.]+$ || "$1" == *:* ]]; }

# alternative_names NAME: of a certificate, as openssl takes them
alternative_names() {
  local host names="DNS:$1"
  for host in "${HOSTS[@]}"; do
    if is_address "$host"; then names+=",IP:$host"; else names+=",DNS:$host"; fi
  done
  echo "$names"
}

# holds NAME: the pair is there, of this authority, of today, and for every host
holds() {
  local host kind
  [ -f "$1.crt" ] && [ -f "$1.key" ] || return 1
  openssl verify -CAfile ca.crt "$1.crt" >/dev/null 2>&1 || return 1
  for host in "${HOSTS[@]}"; do
    kind=-checkhost
    if is_address "$host"; then kind=-checkip; fi
    openssl x509 -in "$1.crt" -noout "$kind" "$host" | grep -q "does match" || return 1
  done
}

# publish NAME: the pair appears whole
publish() {
  chmod 0644 "$WORK/$1.crt"
  mv "$WORK/$1.key" "$WORK/$1.crt" .
  echo "made $DIRECTORY/$1.crt"
}

make_authority() {
  quietly openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
    -subj "/O=farvec test/CN=farvec test authority" -keyout "$WORK/ca.key" -out "$WORK/ca.crt" \
    -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign,cRLSign"
  publish ca
}

# make_pair NAME USAGE
make_pair() {
  if holds "$1"; then
    echo "kept $DIRECTORY/$1.crt"
    return
  fi
  quietly openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
    -subj "/O=farvec test/CN=$1" -keyout "$WORK/$1.key" -out "$WORK/$1.csr"
  printf '%s\n' "basicConstraints=critical,CA:FALSE" "keyUsage=critical,digitalSignature" \
    "extendedKeyUsage=$2" "subjectAltName=$(alternative_names "$1")" >"$WORK/extensions"
  quietly openssl x509 -req -in "$WORK/$1.csr" -CA ca.crt -CAkey ca.key -days "$DAYS" \
    -set_serial "0x01$(openssl rand -hex 15)" -extfile "$WORK/extensions" -out "$WORK/$1.crt"
  publish "$1"
}

if [ -f ca.crt ] && [ ! -f ca.key ]; then
  die "$DIRECTORY/ca.key is not there: bring it back, or remove ca.crt to begin a new authority"
fi
[ -f ca.crt ] || make_authority
make_pair node serverAuth,clientAuth
for client in "${CLIENTS[@]}"; do make_pair "$client" clientAuth; done
