#!/bin/bash
# tools/setup.sh decides rightly: silent when nothing is missing, one line naming the remedy when
# something is and it may not install. Stand-ins on PATH see to it that nothing is ever installed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
command -v dpkg-query >/dev/null || { echo "SKIPPED: no dpkg on this system"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*"
  exit 1
}
# stand_in NAME TEXT: a program that does TEXT.
stand_in() {
  printf '#!/bin/sh\n%s\n' "$2" > "$work/$1"
  chmod +x "$work/$1"
}
stand_in apt-get "echo called >> '$work/apt-get.calls'; exit 100"
stand_in id "echo 1000"

status=0
output=$(PATH=$work:$PATH "$root/tools/setup.sh" 2>&1) || status=$?
if [[ $status == 0 ]]; then
  [[ -z $output ]] || fail "nothing is missing, yet it says: $output"
fi

# Everything missing but what is a command, for a user who is not root.
stand_in dpkg-query "exit 0"
status=0
output=$(PATH=$work:$PATH "$root/tools/setup.sh" tests 2>&1) || status=$?
[[ $status == 3 ]] || fail "status $status where packages are missing: $output"
[[ $(wc -l <<<"$output") == 1 ]] || fail "more than one line: $output"
[[ $output == *libhdf5-dev* && $output == *python3-h5py* ]] || fail "does not name them: $output"
case $(. /etc/os-release && echo "$ID $VERSION_ID") in
  "debian 12" | "ubuntu 24.04")
    [[ $output == *"run as root: $root/tools/setup.sh tests" ]] || fail "no command: $output" ;;
esac
[[ ! -e $work/apt-get.calls ]] || fail "apt-get was called"

# A toolkit that was named and does not serve is never replaced by another.
status=0
output=$(PATH=$work:$PATH VOLTCHECK_CUDA_ROOT=$work/none "$root/tools/setup.sh" 2>&1) || status=$?
[[ $status == 3 && $output == *"VOLTCHECK_CUDA_ROOT=$work/none holds no CUDA Toolkit"* ]] ||
  fail "status $status for a foreign toolkit: $output"
