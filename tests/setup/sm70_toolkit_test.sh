#!/bin/bash
# tools/setup/find_sm70_toolkit.sh with made-up toolkits: what it takes and what it refuses.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# toolkit FOLDER RELEASE STATUS: an nvcc, and a ptxas that ends with STATUS when asked to assemble.
toolkit() {
  mkdir -p "$1/bin"
  printf '#!/bin/sh\n' > "$1/bin/nvcc"
  printf '#!/bin/sh\n[ "$1" = --version ] && { echo "Cuda tools, release %s, V1"; exit 0; }\nexit %s\n' \
    "$2" "$3" > "$1/bin/ptxas"
  chmod +x "$1/bin/nvcc" "$1/bin/ptxas"
}
toolkit "$work/new one" 13.0 1
toolkit "$work/old one" 12.4 0

# expect WANTED_STATUS WANTED_OUTPUT NAME=VALUE...: runs the search under that environment.
expect() {
  local wanted_status=$1 wanted=$2 status=0 output
  shift 2
  output=$(env -u CUDA_HOME -u VOLTCHECK_CUDA_ROOT "$@" \
    "$root/tools/setup/find_sm70_toolkit.sh" 2>&1) || status=$?
  if [[ $status != "$wanted_status" || $output != *"$wanted"* ]]; then
    echo "with $*: status $status (expected $wanted_status), output '$output', expected '$wanted'"
    exit 1
  fi
}
expect 0 "$work/old one/bin"$'\n'12.4 VOLTCHECK_CUDA_ROOT="$work/old one"
expect 0 "$work/old one/bin"$'\n'12.4 CUDA_HOME="$work/old one"
expect 0 "$work/old one/bin"$'\n'12.4 VOLTCHECK_CUDA_ROOT="$work/old one" CUDA_HOME="$work/new one"
# A toolkit that was named and does not serve is refused; no other takes its place.
expect 1 "release 13.0 cannot target SM70" VOLTCHECK_CUDA_ROOT="$work/new one"
expect 1 "holds no toolkit" VOLTCHECK_CUDA_ROOT="$work/nothing"
# One that merely lies about is passed over: the one this build uses is found behind it.
expect 0 "new one/bin: release 13.0 cannot target SM70" CUDA_HOME="$work/new one"
