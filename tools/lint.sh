#!/bin/bash
# lint.sh [format|tidy] [FILE...]: clang-format and clang-tidy over the project (both by default).
#
# "format" changes nothing: it fails where clang-format 14 would change a file (other versions format
# differently, so it is skipped, with status 77, where 14 is absent). "tidy" reads each file for itself,
# also those that a build compiles several at a time: it configures build/lint for that, and builds
# nothing. FILEs narrow either to those files.
set -euo pipefail
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
what=${1:-both}
if [[ $# -gt 0 ]]; then shift; fi
case $what in
  format | tidy | both) ;;
  *) echo "usage: lint.sh [format|tidy|both] [FILE...]" >&2; exit 2 ;;
esac

# tool NAME: the program of LLVM 14 under either of its names, or nothing.
tool() {
  local name
  for name in "$1-14" "$1"; do
    if command -v "$name" >/dev/null && [[ $("$name" --version) == *"version 14."* ]]; then
      command -v "$name"
      return
    fi
  done
}

format() {
  local program
  program=$(tool clang-format)
  if [[ -z $program ]]; then
    echo "SKIPPED: formatting was not checked, clang-format 14 is not installed" >&2
    return 77
  fi
  if [[ $# == 0 ]]; then
    mapfile -t files < <(find "$root"/{reference,kernels,fixtures,verify,tools,tests} -type f \
      '(' -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' ')' | sort)
  else
    files=("$@")
  fi
  "$program" --dry-run -Werror --style="file:$root/.clang-format" "${files[@]}" ||
    { echo "lint: reformat these with clang-format -i" >&2; return 1; }
}

tidy() {
  local program folder=$root/build/lint
  program=$(tool clang-tidy)
  if [[ -z $program ]]; then
    echo "SKIPPED: clang-tidy 14 is not installed" >&2
    return 77
  fi
  (cd "$root" && cmake --preset release -B "$folder" -DVOLTCHECK_UNITY=OFF) >/dev/null ||
    { echo "lint: configuring $folder failed" >&2; return 2; }
  if [[ $# == 0 ]]; then
    mapfile -t files < <(sed -n 's/^ *"file": "\(.*\.cpp\)",*$/\1/p' "$folder/compile_commands.json" | sort -u)
  else
    files=("$@")
  fi
  printf '%s\0' "${files[@]}" |
    xargs -0 -n 1 -P "$(nproc)" "$program" --quiet -p "$folder" \
      --extra-arg=-Wno-unknown-warning-option
}

status=0
if [[ $what != tidy ]]; then format "$@" || status=$?; fi
if [[ $what != format ]]; then tidy "$@" || status=$?; fi
exit $status
