#!/bin/bash
# fuzz.sh [SECONDS [NAME...]]: builds the libFuzzer targets (needs clang) and runs each for so many seconds.
#
# Without arguments: every target of tests/fuzz for 30 s; 0 seconds: builds only. What a run finds that is new stays in
# build/fuzz/found/NAME; a crash is kept in build/fuzz/crashes and ends the script with status 1. Without clang: status 77.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
seconds=${1:-30}
[[ $# == 0 ]] || shift
if ! command -v clang++ >/dev/null; then
  echo "fuzz: needs clang++ (tools/setup.sh tests installs it)" >&2
  exit 77
fi
build=$root/build/fuzz
names=("$@")
if [[ ${#names[@]} == 0 ]]; then
  mapfile -t names < <(cd "$root/tests/fuzz" && ls -- *_fuzz.cpp | sed 's/_fuzz\.cpp$//')
fi
"$root/tools/setup/build.sh" fuzz "${names[@]/%/_fuzz}"
if [[ $seconds == 0 ]]; then exit 0; fi
mkdir -p "$build/crashes"
status=0
for name in "${names[@]}"; do
  mkdir -p "$build/found/$name"
  dictionary=()
  if [[ -f $root/tests/fuzz/$name.dict ]]; then dictionary=(-dict="$root/tests/fuzz/$name.dict"); fi
  echo "fuzz: $name for $seconds s"
  log=$build/found/$name.log
  if ! "$build/tests/fuzz/${name}_fuzz" "${dictionary[@]}" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=20 -seed=1 \
      -print_final_stats=1 -artifact_prefix="$build/crashes/$name-" "$build/found/$name" \
      "$root/tests/fuzz/corpus/$name" >"$log" 2>&1; then
    echo "fuzz: $name failed; $log says how" >&2
    status=1
  fi
  grep -E "^stat::number_of_executed|^stat::peak_rss|ERROR|SUMMARY" "$log" || true
done
exit "$status"
