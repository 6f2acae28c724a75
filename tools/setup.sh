#!/bin/bash
# setup.sh [tests] [bench]: installs what building Voltcheck needs and this machine lacks.
#
# Debian 12 and Ubuntu 24.04, through apt, unattended; on other systems it names what is needed.
# When everything is there, it looks and leaves: no network, nothing written, no root needed.
# The packages are listed in setup/packages.txt; beside them a CUDA Toolkit that can target SM70.
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

fail() {
  echo "setup: $*" >&2
  exit 3
}

# Packages of the groups asked for that are absent, one a line.
missing_packages() {
  local group package command installed
  local -A present=()
  while read -r package; do
    present[$package]=1
  done < <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' 2>/dev/null |
           sed -n 's/ installed$//p')
  while read -r group package command; do
    [[ " build $* " == *" $group "* ]] || continue
    if [[ -n ${present[$package]:-} ]]; then continue; fi
    if [[ $command != - ]] && command -v "$command" >/dev/null; then continue; fi
    echo "$package"
  done < <(grep -v '^#' "$here/setup/packages.txt")
}

toolkit_missing() {
  ! "$here/setup/find_sm70_toolkit.sh" >/dev/null 2>&1
}

# with_apt "what it does" ARGUMENT...: one line before, its output only if it fails.
with_apt() {
  local what=$1 log
  shift
  log=$(mktemp)
  echo "setup: $what"
  if ! apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@" \
      </dev/null >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    fail "apt-get failed while $what; the lines above say why (network, disk, a lock?)"
  fi
  rm -f "$log"
}

if ! command -v dpkg-query >/dev/null; then
  if [[ -f $here/../build/release/build.ninja ]]; then exit 0; fi
  echo "setup: no apt here, so nothing is installed. Needed, by their Debian names:" \
    "$(grep -v '^#' "$here/setup/packages.txt" | awk '{print $2}' | paste -sd' ')" \
    "and a CUDA Toolkit 11.x or 12.x" >&2
  exit 0
fi

mapfile -t packages < <(missing_packages "$@")
components=()
codename=
if toolkit_missing; then
  if [[ -n ${VOLTCHECK_CUDA_ROOT:-} ]]; then
    fail "VOLTCHECK_CUDA_ROOT=$VOLTCHECK_CUDA_ROOT holds no CUDA Toolkit that can target SM70;" \
      "name one of 11.x or 12.x, or unset it"
  fi
  packages+=(nvidia-cuda-toolkit)
fi
if [[ ${#packages[@]} == 0 ]]; then exit 0; fi

# What is missing, and how it can be had on this system.
# shellcheck source=/dev/null
system=$(. /etc/os-release && echo "${ID:-unknown} ${VERSION_ID:-}" || true)
case $system in
  "debian 12") codename=bookworm components=(contrib non-free non-free-firmware) ;;
  "ubuntu 24.04") codename=noble components=(universe multiverse) ;;
  *) fail "on $system nothing is installed unasked; install ${packages[*]}" \
      "(a CUDA Toolkit 11.x or 12.x from elsewhere will do), then run this again" ;;
esac
if [[ $(id -u) != 0 ]]; then
  fail "missing: ${packages[*]}; run as root: $here/setup.sh${*:+ $*}"
fi

# Debian keeps the toolkit outside "main", Ubuntu also some of the libraries.
if [[ $codename == noble || " ${packages[*]} " == *" nvidia-cuda-toolkit "* ]]; then
  "$here/setup/enable_components.sh" "$codename" "${components[@]}"
fi
started=$SECONDS
with_apt "reading the package lists" update
for package in "${packages[@]}"; do
  if [[ ! $(apt-cache policy "$package") =~ Candidate:\ [^\(] ]]; then
    if [[ $package == nvidia-cuda-toolkit ]]; then
      fail "no CUDA Toolkit that can target SM70 is here and apt offers none: install CUDA 11.x" \
        "or 12.x (13 dropped SM70) and name it with VOLTCHECK_CUDA_ROOT=/path/to/cuda-12.x"
    fi
    fail "apt offers no $package; are the sources in /etc/apt complete for $system?"
  fi
done
if [[ " ${packages[*]} " == *" nvidia-cuda-toolkit "* ]]; then
  echo "setup: no CUDA Toolkit that can target SM70 is here; apt's is large, this takes minutes"
fi
with_apt "installing ${packages[*]}" install --no-install-recommends "${packages[@]}"

mapfile -t packages < <(missing_packages "$@")
if [[ ${#packages[@]} != 0 ]]; then fail "still missing after the installation: ${packages[*]}"; fi
if toolkit_missing; then
  "$here/setup/find_sm70_toolkit.sh" >/dev/null || true
  fail "the installed CUDA Toolkit cannot assemble for SM70; name one of 11.x or 12.x with" \
    "VOLTCHECK_CUDA_ROOT=/path/to/cuda-12.x"
fi
echo "setup: done in $((SECONDS - started)) s"
