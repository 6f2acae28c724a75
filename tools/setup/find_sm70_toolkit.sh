#!/bin/sh
# find_sm70_toolkit.sh: where is a CUDA Toolkit that can still target SM70 (11.x or 12.x)?
#
# Prints two lines, the folder of its programs and its release, and exits 0; or exits 1 with one
# line on stderr per toolkit that was tried. Set-up and CMake (FindSm70Toolkit) both ask here.
#
# Where it looks, in this order: $VOLTCHECK_CUDA_ROOT (then nowhere else), $CUDA_HOME, the
# distribution's toolkit in /usr/bin, /usr/local/cuda*, /opt/cuda* (highest version first), and the
# nvcc on PATH. Being found is not enough: CUDA 13 dropped SM70 and its help text still names it,
# so the toolkit has to assemble a kernel for it.
set -u
LC_ALL=C
export LC_ALL

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
printf '.version 6.0\n.target sm_70\n.address_size 64\n.visible .entry probe() { ret; }\n' \
  > "$scratch/probe.ptx"

# Tells whether the toolkit whose programs lie in $1 serves; if so, prints the answer.
try() {
  [ -x "$1/nvcc" ] && [ -x "$1/ptxas" ] || return 1
  release=$("$1/ptxas" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')
  if "$1/ptxas" -arch=sm_70 -o "$scratch/probe.cubin" "$scratch/probe.ptx" >/dev/null 2>&1; then
    printf '%s\n%s\n' "$1" "$release"
    return 0
  fi
  echo "$1: release ${release:-unknown} cannot target SM70" >&2
  return 1
}

if [ -n "${VOLTCHECK_CUDA_ROOT:-}" ]; then
  try "$VOLTCHECK_CUDA_ROOT/bin" && exit 0
  echo "VOLTCHECK_CUDA_ROOT=$VOLTCHECK_CUDA_ROOT holds no toolkit for SM70" >&2
  exit 1
fi
if [ -n "${CUDA_HOME:-}" ]; then
  try "$CUDA_HOME/bin" && exit 0
fi
try /usr/bin && exit 0
ls -d /usr/local/cuda*/bin /opt/cuda*/bin 2>/dev/null | sort -rV > "$scratch/installed"
while IFS= read -r bin; do
  try "$bin" && exit 0
done < "$scratch/installed"
if on_path=$(command -v nvcc); then
  try "$(dirname "$(readlink -f "$on_path")")" && exit 0
fi
exit 1
