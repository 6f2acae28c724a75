#!/bin/sh
# gate.sh KERNELS.cu|KERNELS.ptx: the gate as CI runs it. Writes gate.h5, gate.html, gate.md and
# gate.xml into this folder, and ends with the gate's own status. With BASE=FILE.h5, the run file of
# the main branch, it says what changed in diff.md, and fails on a regression as well.
set -eu
voltcheck=${VOLTCHECK:-voltcheck}
kernels=$1
case $kernels in
  *.cu) nvcc -ptx -arch=compute_70 -lineinfo -o gate.ptx "$kernels" && kernels=gate.ptx ;;
esac
status=0
"$voltcheck" gate --suite "${SUITE:-smoke}" --kernels "$kernels" --out gate.h5 || status=$?
if [ -f gate.h5 ]; then
  "$voltcheck" report gate.h5 --format html --out gate.html
  "$voltcheck" report gate.h5 --format md --out gate.md
  "$voltcheck" report gate.h5 --format junit --out gate.xml
  if [ -n "${BASE:-}" ]; then
    changed=0
    "$voltcheck" diff "$BASE" gate.h5 --fail-on regression --format md --out diff.md || changed=$?
    [ "$status" != 0 ] || status=$changed
  fi
fi
exit "$status"
