#!/bin/bash
# ptx_places_test.sh SOURCE CMAKE NVCC...: the same device code gives the same PTX in any folder. Without that
# the kernels' hash in a record would name the folder of the checkout.
set -euo pipefail
source=$1 cmake=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for place in here "there/and a bit further"; do
  root="$work/$place"
  mkdir -p "$root"
  cp -r "$source/kernels" "$root/kernels"
  "$@" -ptx -arch=compute_70 -std=c++17 -O3 -lineinfo -I "$root" -o "$root/raw.ptx" "$root/kernels/sm70/moe_gather.cu"
  "$cmake" -DROOT="$root" -DVIEW="$root/none" -DIN="$root/raw.ptx" -DOUT="$root/out.ptx" -P "$source/cmake/NormalisePtx.cmake"
done
grep -q 'st.global' "$work/here/out.ptx"
cmp "$work/here/out.ptx" "$work/there/and a bit further/out.ptx"
