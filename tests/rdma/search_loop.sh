# Searches while faults happen: source it behind scripts/memory_node.sh. Needs ./query.u8bin.
SEARCH=("$BIN/farvec" search --queries query.u8bin --k 10 --list 10)
SEARCH_SECONDS=60

# start_compute_node ADDRESS: reads the memory node at ADDRESS over verbs, as process $COMPUTE.
start_compute_node() {
  "$BIN/farvec-compute-node" --memory-node "$1" --listen "unix:$FOLDER/c" --tier verbs \
    --default-deadline-ms 3000 >compute.log 2>&1 &
  COMPUTE=$!
  PIDS+=("$COMPUTE")
  await_line "serving" compute.log
}

# search_on: until ./stop exists; a line for each search in ./outcomes: same as ./local.ibin, other,
# refused, late.
search_on() {
  local status
  while [ ! -e stop ]; do
    status=0
    timeout "$SEARCH_SECONDS" "${SEARCH[@]}" --connect "unix:$FOLDER/c" --out found.ibin \
      >search.log 2>&1 || status=$?
    case "$status" in
      0) if cmp -s local.ibin found.ibin; then echo same; else echo other; fi ;;
      124) echo late ;;
      *) echo refused ;;
    esac >>outcomes
  done
}

start_searches() {
  "${SEARCH[@]}" --index index --threads 1 --out local.ibin
  touch outcomes
  search_on &
  PIDS+=("$!")
}

outcomes() { sort outcomes | uniq -c | paste -sd ' '; }

# await_outcome WORD: of a search that ends after this call.
await_outcome() {
  local past end=$((SECONDS + 90))
  past="$(wc -l <outcomes)"
  until tail -n +$((past + 1)) outcomes | grep -q "$1"; do
    [ "$SECONDS" -lt "$end" ] || fail "no search was '$1'; they were: $(outcomes)"
    sleep 0.1
  done
}

# end_searches: none was wrong, none was late, and the compute node ends well.
end_searches() {
  touch stop
  if grep -q "other\|late" outcomes; then fail "searches were: $(outcomes)"; fi
  kill -TERM "$COMPUTE"
  wait "$COMPUTE" || fail "the compute node ended with $?"
  echo "searches during faults: $(outcomes)"
}
