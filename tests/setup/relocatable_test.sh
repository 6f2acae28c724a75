#!/bin/bash
# `cmake --install` makes a folder that works after it was moved: the command finds its libraries and
# fixtures beside itself, with nothing in the environment. Argument: the build folder.
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*"
  exit 1
}
cmake --install "$build" --prefix "$work/here" > "$work/install.log" || fail "$(cat "$work/install.log")"
mkdir "$work/elsewhere"
mv "$work/here" "$work/elsewhere/a folder"
voltcheck="$work/elsewhere/a folder/bin/voltcheck"

# Every library but the runtimes of the system comes from the folder.
outside=$(env -i ldd "$voltcheck" | grep '=> /' | grep -vF "=> $work/elsewhere/a folder/" |
          grep -vE '^\s*(lib(c|dl|gcc_s|m|pthread|resolv|rt|stdc\+\+)\.so|/lib.*ld-linux)' || true)
[[ -z $outside ]] || fail "taken from the system: $outside"
! env -i ldd "$voltcheck" | grep 'not found' || fail "a library is missing"

cd "$work"
env -i "$voltcheck" list tactics | grep -q 8x256x64 || fail "list tactics does not work"
env -i "$voltcheck" list fixtures | grep -qF "$work/elsewhere/a folder/share/voltcheck/fixtures/" ||
  fail "the fixtures are not those of the folder"
cat > small.txt <<'SUITE'
h=64;i=32;e=4;k=2;g=32;t=1,3;data=integer
fixture=*;t=1
SUITE
env -i "$voltcheck" gate --suite ./small.txt --out small.h5 > gate.log 2>&1 || fail "$(cat gate.log)"
[[ -s small.h5 ]] || fail "no run file"
