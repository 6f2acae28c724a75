#!/bin/bash
# build.sh PRESET [TARGET...]: configures build/PRESET when needed and builds it, quietly.
#
# Configures when the folder is new, belongs to another place (a moved or copied checkout), or was
# set up for another CUDA Toolkit; else Ninja decides what is stale. The compiler's words are in
# build/PRESET/build.log and are printed only when something fails. One build at a time per folder.
set -euo pipefail
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
preset=$1
shift
folder=$root/build/$preset
mkdir -p "$folder"
log=$folder/build.log
exec 9>"$folder/build.lock"
flock 9

# fail WHAT: prints the first errors in the log, or its end where none is recognised.
fail() {
  grep -A 4 -m 5 -E 'error ?: |fatal +: |undefined reference|CMake Error' "$log" >&2 ||
    tail -n 30 "$log" >&2
  echo "build: $1 failed; the whole log is $log" >&2
  exit 3
}

toolkit=$("$root/tools/setup/find_sm70_toolkit.sh" 2>/dev/null || true)
fresh=()
if [[ -f $folder/CMakeCache.txt ]] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
  fresh=(--fresh)
fi
if [[ ! -f $folder/build.ninja || ${#fresh[@]} != 0 ||
      $toolkit != "$(cat "$folder/sm70_toolkit.txt" 2>/dev/null || true)" ]]; then
  launcher=()
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  echo "build: configuring build/$preset"
  (cd "$root" && cmake --preset "$preset" "${fresh[@]}" "${launcher[@]}") >"$log" 2>&1 9>&- ||
    { rm -f "$folder/build.ninja"; fail "configuring"; }
fi

# As many jobs as processors, but no more than memory carries (a test program takes up to 1.5 GB).
jobs=$(nproc)
memory_jobs=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo)
if ((memory_jobs < jobs)); then jobs=$((memory_jobs > 1 ? memory_jobs : 1)); fi

# On a terminal one line that counts; elsewhere one line at the start, if there is work at all.
show() {
  if [[ -t 1 ]]; then
    awk -v name="$preset" '
      match($0, /^\[[0-9]+\/[0-9]+\]/) {
        printf "\rbuild: %s %s ", name, substr($0, RSTART, RLENGTH); fflush(); shown = 1
      }
      END { if (shown) printf "\r\033[K" }'
  else
    awk -v name="$preset" -v jobs="$jobs" '
      !shown && /^\[[0-9]+\/[0-9]+\] (Building|Linking|Generating)/ {
        printf "build: building build/%s with %d jobs\n", name, jobs; fflush(); shown = 1
      }'
  fi
}
ninja -C "$folder" -j "$jobs" "$@" 2>&1 9>&- | tee "$log" | show || fail "building"
