#!/bin/bash
# bench.sh [ARGUMENT...]: installs what is missing, builds and runs the benchmarks, and prints ratios.
#
# Arguments go to Google Benchmark: "tools/bench.sh --benchmark_filter=Reference". A benchmark named
# Plain* is the baseline of the others in its program with the same arguments; the ratio is
# its time over theirs, so 0.5 means "takes twice as long as plain". Figures are also left as JSON in
# build/bench/.
set -euo pipefail
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
"$root/tools/setup.sh" bench
"$root/tools/setup/build.sh" bench benchmarks
while IFS= read -r program <&3; do
  figures=$root/build/bench/$(basename "$program").json
  "$program" --benchmark_out="$figures" --benchmark_out_format=json "$@"
  python3 "$root/tools/setup/bench_ratios.py" "$figures"
done 3<"$root/build/bench/benchmarks.txt"
