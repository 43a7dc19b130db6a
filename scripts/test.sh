#!/usr/bin/env bash
# Builds and tests: the command before a commit, and in turns what CI runs.
#   scripts/test.sh                lint and the release tests that are not slow
#   scripts/test.sh --turn TURN    layers, language, format and one of
#                                    release           the release tests, slow ones too: those in
#                                                      guests (RDMA, persistent memory, CXL, power) and
#                                                      50 kills of every kind are among them
#                                    release-0, -1     the same with one half of the slow tests
#                                    asan-0 to asan-3  the rooms' release tests, and a quarter of the
#                                                      rooms under the address sanitizer
#                                    tsan-0 to tsan-3  the same under the thread sanitizer
#                                    fuzz              the rooms' release tests, and every fuzz target
#                                                      for some seconds
#                                    commit            which of these the commit's hash says: a half of
#                                                      release for two of three commits
#   scripts/test.sh --which COMMIT only says which of these CI has for a commit
#   scripts/test.sh --long         every test, kills by the thousand too, every room under both
#                                  sanitizers, the daemons of several memory nodes under the thread
#                                  sanitizer, clang-tidy, a minute of each fuzz target, the papers'
#                                  figures in small, a wheel of the Python package, tried in a new
#                                  virtual environment
# Environment: FARVEC_DATA  folder with data sets (tests that want it skip without it)
#              FARVEC_JOBS  parallel jobs (default: the number of cores)
set -uo pipefail
source "$(dirname "$0")/common.sh"
cd "$ROOT" || exit 1

OTHER_TURNS=(asan-0 asan-1 asan-2 asan-3 tsan-0 tsan-1 tsan-2 tsan-3 fuzz)
# The rooms below the tool, in quarters that take about as long under a sanitizer, the lowest first.
QUARTERS=("base channel changes dataset distance quantization layout attributes coroutines disk wal device graph cluster"
          "slotted paged indexing transport rpc client memory_node tiers"
          "search"
          "collection engine compute_node measure")
FUZZ_SECONDS=4
MODE=default

usage() { sed -n '2,26s/^# \{0,1\}//p' "$0"; }

# turn_of_commit COMMIT: by its hash's remainder by 3 a half of release, or by the quotient one of the
# others. Where git knows no such commit, as outside of a checkout, the first half.
turn_of_commit() {
  local hash number
  hash="$(git rev-parse --verify --quiet "$1" 2>/dev/null || true)"
  number=$((16#0${hash:0:7}))
  case $((number % 3)) in
    2) echo "${OTHER_TURNS[$((number / 3 % ${#OTHER_TURNS[@]}))]}" ;;
    *) echo "release-$((number % 3))" ;;
  esac
}

# turn_of WORD: itself, or for "commit" the turn of the hash, the first outside of git.
turn_of() {
  if [ "$1" = commit ]; then
    set -- "$(turn_of_commit HEAD)"
  fi
  local turns="release release-0 release-1 ${OTHER_TURNS[*]}"
  [[ "$1" != *" "* && " $turns " = *" $1 "* ]] || die "--turn: '$1' is neither commit nor one of $turns"
  echo "$1"
}

while [ $# -gt 0 ]; do
  case "$1" in
    --turn) [ $# -gt 1 ] || die "--turn wants a name: --help has them"; MODE="$(turn_of "$2")" || exit 1; shift ;;
    --which) [ $# -gt 1 ] || die "--which wants a commit"; turn_of_commit "$2"; exit 0 ;;
    --long) MODE=long; FUZZ_SECONDS=60 ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; die "unknown argument '$1'" ;;
  esac
  shift
done

if [ -z "${FARVEC_DATA:-}" ] && [ -d "$ROOT/../shared/data" ]; then
  FARVEC_DATA="$(cd "$ROOT/../shared/data" && pwd)"
fi
export FARVEC_DATA="${FARVEC_DATA:-}"
export CTEST_OUTPUT_ON_FAILURE=1
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=0}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
export LSAN_OPTIONS="${LSAN_OPTIONS:-print_suppressions=0:suppressions=\"$ROOT/scripts/lsan.supp\"}"
# The longest history: a report whose older stack is lost cannot be told to be a library's own.
export TSAN_OPTIONS="${TSAN_OPTIONS:-history_size=7 suppressions=\"$ROOT/scripts/tsan.supp\"}"

SUMMARY=()
REPORTS=()  # of the test runs
FAILED=0

# step NAME COMMAND...: runs it, keeps its outcome and its time for the summary.
step() {
  local name="$1" start=$SECONDS outcome=passed
  shift
  say "$name"
  "$@" || { outcome=FAILED; FAILED=$((FAILED + 1)); }
  SUMMARY+=("$(printf '%-34s %-6s %5d s' "$name" "$outcome" $((SECONDS - start)))")
  [ "$outcome" = passed ]
}

tracked_sources() {
  # Without git (a tarball, a clone that another user owns): everything that is not built.
  { git ls-files --cached --others --exclude-standard '*.h' '*.cc' 2>/dev/null ||
    find . -path ./build -prune -o \( -name '*.h' -o -name '*.cc' \) -print; } |
    while read -r file; do
      if [ -f "$file" ]; then printf '%s\n' "$file"; fi
    done
}

check_format() {
  tracked_sources | timeout --foreground 300 xargs -r -P "$JOBS" -n 20 clang-format-14 --dry-run --Werror
}

# run_ctest PRESET/REPORT SECONDS [CTEST ARGUMENT...]: one test more than there are jobs, as many wait
# for leases and deadlines.
run_ctest() {
  local report="build/$1.xml"
  shift
  REPORTS+=("$report")
  "$PYTHON" scripts/run_ctest.py "$report" "$@" -j $((JOBS + 1))
}

tests_of_rooms() {
  local IFS='|'
  echo "^($*)\\."
}

# What the release build has besides: the Python package.
PYTHON_OPTIONS=()
prepare_python() {
  local interpreter
  interpreter="$(scripts/python/venv.sh)" || return 1
  PYTHON_OPTIONS=(-DFARVEC_PYTHON=ON "-DPython_EXECUTABLE=$interpreter")
}

# has KIND: whether this run has asan, tsan or fuzz.
has() {
  case "$MODE:$1" in
    long:* | fuzz:fuzz | "$1"-?:*) true ;;
    *) false ;;
  esac
}

# has_all_release: what users run, or the rooms' tests alone.
has_all_release() {
  case "$MODE" in
    long | default | release*) true ;;
    *) false ;;
  esac
}

# The rooms that this run has under a sanitizer, where it has not all.
ROOMS=()
case "$MODE" in
  ?san-?) read -r -a ROOMS <<<"${QUARTERS[${MODE#?san-}]}" ;;
esac

build_release() {
  CONFIGURE_OPTIONS=("${PYTHON_OPTIONS[@]}")
  [ "$MODE" = long ] || CONFIGURE_OPTIONS+=(-DFARVEC_BENCHES=OFF)
  local targets=()
  has_all_release || targets=(unit_tests)
  build_preset release "${targets[@]}"
  local status=$?
  CONFIGURE_OPTIONS=()
  return "$status"
}
test_release() {
  case "$MODE" in
    long) run_ctest release/tests 14400 ;;
    release) run_ctest release/tests 4800 -LE long ;;
    release-?) run_ctest release/tests 3600 -LE "long|half-$((1 - ${MODE#release-}))" ;;
    default) run_ctest release/tests 1200 -LE 'long|slow' ;;
    *) run_ctest release/tests 1200 -L unit ;;
  esac
}

# build_rooms PRESET
build_rooms() {
  if [ "$MODE" = long ]; then
    build_preset "$1" unit_tests
  else
    build_preset "$1" "${ROOMS[@]/%/_test}"
  fi
}

# test_rooms PRESET
test_rooms() {
  if [ "$MODE" = long ]; then
    run_ctest "$1/tests" 1800 -L unit
  else
    run_ctest "$1/tests" 1200 -L unit -R "$(tests_of_rooms "${ROOMS[@]}")"
  fi
}

build_tsan_daemons() { build_preset tsan compute_node_e2e_test; }

# Daemons end to end. What one of them reports is not in a test's own output: it goes to a file.
test_tsan_daemons() {
  local reports="$ROOT/build/tsan/reports" status=0
  rm -rf "$reports"
  mkdir -p "$reports"
  TSAN_OPTIONS="$TSAN_OPTIONS log_path=\"$reports/report\"" run_ctest tsan/daemons 1200 -L e2e \
    -R 'ManyNodes.*/(fabric|shm)' || status=1
  if compgen -G "$reports/*" >/dev/null; then
    cat "$reports"/*
    status=1
  fi
  return "$status"
}

build_fuzz() { build_preset fuzz fuzz_targets; }

# fuzz_one TARGET: from its seeds, when the build wrote some; new inputs stay in the build tree.
fuzz_one() {
  local name corpus log
  name="$(basename "$1")"
  corpus="build/fuzz/corpus/$name"
  log="build/fuzz/findings/$name.log"
  mkdir -p "$corpus" build/fuzz/findings
  if timeout --foreground $((FUZZ_SECONDS + 120)) "$1" -max_total_time="$FUZZ_SECONDS" -timeout=20 \
    -rss_limit_mb=4096 -max_len=65536 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/findings/$name-" "$corpus" >"$log" 2>&1; then
    echo "$name: $(awk '/number_of_executed_units/ { print $2 }' "$log") inputs, no finding"
  else
    tail -n 40 "$log"
    echo "$name: FINDING, see $log"
    return 1
  fi
}

run_fuzz() {
  export -f fuzz_one
  export FUZZ_SECONDS
  find build/fuzz/bin -name '*_fuzz' -type f | sort |
    xargs -r -P "$JOBS" -I{} bash -c 'fuzz_one {}'
}

# The papers' figures, small: ends within 20 minutes; pages and rows are in build/study.
run_study() {
  rm -rf build/study
  mkdir -p build/study
  timeout --foreground 1500 scripts/study/run.sh --quick --data "$FARVEC_DATA" --out build/study/pages
}

# Compiles with pip what the package needs; the wheel is in build/wheels.
run_wheel() { timeout --foreground 5400 scripts/python/wheel.sh; }

run_tidy() { timeout --foreground 5400 scripts/tidy.sh; }

print_summary() {
  say "Summary"
  printf '%s\n' "${SUMMARY[@]}"
  printf '%-41s %5d s\n' "total" "$SECONDS"
  case "$MODE" in
    default) echo "not run: slow tests, sanitizers, fuzzing" ;;
    release) echo "not run: long tests, sanitizers, fuzzing" ;;
    release-?) echo "not run: one half of the slow tests, long tests, sanitizers, fuzzing" ;;
    long) ;;
    *) echo "$MODE: of release the rooms' tests alone${ROOMS[*]:+; under the sanitizer ${ROOMS[*]} alone}" ;;
  esac
  "$PYTHON" scripts/test_report.py --failed-steps "$FAILED" "${REPORTS[@]}"
}

ensure_deps || die "packages are missing and could not be installed"
mkdir -p build
step "layers" timeout --foreground 60 "$PYTHON" scripts/check_layers.py
step "language" timeout --foreground 60 "$PYTHON" scripts/check_language.py
step "links" timeout --foreground 60 "$PYTHON" scripts/check_links.py
step "format" check_format
if has_all_release; then step "python packages" prepare_python; fi
step "build release" build_release && step "tests release" test_release
for sanitizer in asan tsan; do
  if has "$sanitizer"; then
    step "build $sanitizer" build_rooms "$sanitizer" && step "tests $sanitizer" test_rooms "$sanitizer"
  fi
done
if has fuzz; then
  step "build fuzz" build_fuzz && step "fuzz" run_fuzz
fi
if [ "$MODE" = long ]; then
  step "build tsan daemons" build_tsan_daemons && step "tests tsan daemons" test_tsan_daemons
  step "python wheel" run_wheel
  step "clang-tidy" run_tidy
  [ -z "$FARVEC_DATA" ] || step "study of the papers" run_study
fi
print_summary
[ "$FAILED" -eq 0 ]
