# Shared by the shell scripts of this folder: source it, do not run it.
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# The distribution's interpreter: matplotlib and numpy come from its packages.
PYTHON=/usr/bin/python3
JOBS="${FARVEC_JOBS:-$(nproc)}"

say() { printf '\033[1m== %s\033[0m\n' "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Installs what is missing; quick when nothing is. Takes install-deps.sh's arguments.
ensure_deps() {
  "$ROOT/scripts/install-deps.sh" "$@"
}

# CMake options that build_preset() adds to those of the preset.
CONFIGURE_OPTIONS=()

# build_preset PRESET [TARGET...]: configure and build, at most an hour.
build_preset() {
  local preset="$1"
  shift
  (cd "$ROOT" && timeout --foreground 300 cmake --preset "$preset" "${CONFIGURE_OPTIONS[@]}" >"$ROOT/build/$preset.configure.log" 2>&1) || {
    cat "$ROOT/build/$preset.configure.log" >&2
    echo "error: configuring preset '$preset' failed (the lines above)" >&2
    return 1
  }
  (cd "$ROOT" && timeout --foreground 3600 cmake --build "build/$preset" -j "$JOBS" ${1:+--target "$@"})
}
