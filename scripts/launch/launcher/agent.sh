# What launch.sh runs on a machine: sh -c "$(cat agent.sh)" agent ACTION RUN_DIR ARGUMENTS...
# One daemon NAME has in RUN_DIR the files NAME.pid ("PID STARTED"), NAME.log and NAME.log.1.
# No percent signs in here: pdsh would replace them.
set -u
ACTION=$1 RUN=$2
shift 2

# The time a process started, in ticks since boot: with the pid it names one process for ever.
started() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

# Sets PID when NAME's process runs. A zombie has ended.
running() {
  PID=
  [ -f "$RUN/$1.pid" ] || return 1
  read -r pid since <"$RUN/$1.pid" || return 1
  [ -n "$since" ] && [ "$(started "$pid")" = "$since" ] || return 1
  ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null || return 1
  PID=$pid
}

make_run_dir() {
  (umask 077 && mkdir -p "$RUN") && [ -O "$RUN" ] && [ -w "$RUN" ] && return
  echo "agent: $RUN cannot be made, or belongs to somebody else" >&2
  exit 1
}

keep_last_log() {
  if [ -f "$RUN/$1.log" ]; then mv -f "$RUN/$1.log" "$RUN/$1.log.1"; fi
  : >"$RUN/$1.log"
}

# facts BIN_DIR INDEX CERTIFICATES: what a check before the start wants to know
facts() {
  sed -n 's/^MemAvailable: *\([0-9]*\).*/available \1/p; s/^HugePages_Free: */huge /p
          s/^Hugepagesize: *\([0-9]*\).*/hugesize \1/p' /proc/meminfo
  for program in farvec-memory-node farvec-compute-node; do
    [ ! -x "$1/$program" ] || echo "program $program"
  done
  [ ! -f "$2/manifest.json" ] || echo "index $(cksum <"$2/manifest.json")"
  [ ! -f "$2/collection.json" ] || echo collection
  for file in node.crt node.key ca.crt; do [ -r "$3/$file" ] || echo "lacks $3/$file"; done
}

# start NAME COMMAND...
start() {
  name=$1
  shift
  make_run_dir
  if running "$name"; then echo "$name already"; return; fi
  keep_last_log "$name"
  cd /
  setsid nohup "$@" </dev/null >"$RUN/$name.log" 2>&1 &
  echo "$! $(started $!)" >"$RUN/$name.pid"
  echo "$name started"
}

# status NAME...: NAME, running or ended or absent, and the last line that tells its state
status() {
  for name in "$@"; do
    if running "$name"; then state="running $PID"
    elif [ -f "$RUN/$name.pid" ]; then state="ended -"
    else state="absent -"
    fi
    echo "$name $state $(state_line "$name" "$state")"
  done
}

# state_line NAME STATE: why it ended, or what it does
state_line() {
  [ -f "$RUN/$1.log" ] || return 0
  case "$2" in ended*) end_line "$1"; return ;; esac
  told=' info (serving|waiting for|draining|stopped)|is lost; queries end|^launch:'
  grep -E "$told" "$RUN/$1.log" | tail -n 1
}

# end_line NAME: its last words, when they are such. What else it logged last is no reason.
end_line() {
  last=$(grep -v '^Run with --help' "$RUN/$1.log" | tail -n 1)
  case "$last" in
    *" info stopped"*) echo "$last" ;;
    "" | *" info "* | *" warning "* | *" debug "* | *" trace "*)
      echo "killed, or crashed: its log does not say why" ;;
    *) echo "$last" ;;
  esac
}

# wait_until_ended SECONDS NAME...: status 0 when all have
wait_until_ended() {
  ticks=$(($1 * 10))
  shift
  while [ "$ticks" -ge 0 ]; do
    left=0
    for name in "$@"; do if running "$name"; then left=1; fi; done
    [ "$left" = 1 ] || return 0
    sleep 0.1
    ticks=$((ticks - 1))
  done
  return 1
}

signal_all() {
  signal=$1
  shift
  for name in "$@"; do if running "$name"; then kill "-$signal" "$PID" 2>/dev/null; fi; done
}

# stop SECONDS NAME...: SIGTERM, SECONDS to end, SIGKILL; one line for each
stop() {
  seconds=$1
  shift
  signal_all TERM "$@"
  killed=
  if ! wait_until_ended "$seconds" "$@"; then
    for name in "$@"; do if running "$name"; then killed="$killed $name "; fi; done
    signal_all KILL "$@"
    wait_until_ended 10 "$@"
  fi
  for name in "$@"; do
    if running "$name"; then echo "$name left $PID"; continue; fi
    case "$killed" in *" $name "*) echo "$name killed" ;; *) echo "$name stopped" ;; esac
    rm -f "$RUN/$name.pid"
  done
}

# leftovers: names of daemons that run here
leftovers() {
  for file in "$RUN"/*.pid; do
    name=$(basename "$file" .pid)
    if running "$name"; then echo "$name"; fi
  done
}

# tail LINES NAME
tail_log() {
  if [ -f "$RUN/$2.log" ]; then tail -n "$1" "$RUN/$2.log"; else echo "(no log yet)"; fi
}

# Where units of SCOPE (system or user) are until the next boot.
unit_dir() {
  if [ "$1" = user ]; then echo "${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/systemd/user"
  else echo "${FARVEC_UNIT_DIR:-/run/systemd/system}"
  fi
}

# unit_start SCOPE NAME UNIT CONTENT
unit_start() {
  make_run_dir
  if systemctl "--$1" is-active --quiet "$3"; then echo "$2 already"; return; fi
  keep_last_log "$2"
  folder=$(unit_dir "$1")
  mkdir -p "$folder" && cat >"$folder/$3" <<END && systemctl "--$1" daemon-reload &&
$4
END
    systemctl "--$1" start "$3" && echo "$2 started"
}

# unit_status SCOPE NAME UNIT
unit_status() {
  state=$(systemctl "--$1" show -p ActiveState --value "$3") || return
  pid=$(systemctl "--$1" show -p MainPID --value "$3")
  case "$state $(systemctl "--$1" show -p SubState --value "$3")" in
    *auto-restart) state="ended -" ;;
    active* | activating* | reloading* | deactivating*) state="running $pid" ;;
    failed*) state="ended -" ;;
    *) state="absent -" ;;
  esac
  echo "$2 $state $(state_line "$2" "$state")"
}

# unit_stop SCOPE NAME UNIT: the unit file says how long SIGTERM may take
unit_stop() {
  systemctl "--$1" stop "$3" 2>/dev/null
  pid=$(systemctl "--$1" show -p MainPID --value "$3") || return
  if [ "${pid:-0}" != 0 ]; then echo "$2 left $pid"; return; fi
  systemctl "--$1" reset-failed "$3" 2>/dev/null
  file=$(unit_dir "$1")/$3
  if [ -f "$file" ]; then rm -f "$file" && systemctl "--$1" daemon-reload; fi
  echo "$2 stopped"
}

case "$ACTION" in
  facts | make_run_dir | start | status | stop | leftovers | tail_log | unit_start | unit_status | \
    unit_stop) "$ACTION" "$@" ;;
  *) echo "agent: no action '$ACTION'" >&2; exit 2 ;;
esac
