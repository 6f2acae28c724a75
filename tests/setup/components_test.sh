#!/bin/bash
# tools/setup/enable_components.sh on both kinds of apt source, in a folder that stands for /etc/apt.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
command -v apt-get >/dev/null || { echo "SKIPPED: no apt on this system"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/sources.list.d"
cat > "$work/sources.list" <<'END'
# deb http://commented.invalid/debian bookworm main
deb [arch=amd64 trusted=yes] http://one.invalid/debian bookworm main contrib
deb [arch=amd64 trusted=yes] http://one.invalid/debian bookworm-updates main
deb-src [trusted=yes] http://one.invalid/debian bookworm main
deb http://stranger.invalid/tool tool-bookworm main
END
cat > "$work/sources.list.d/two.sources" <<'END'
Types: deb
URIs: http://off.invalid/debian
Suites: bookworm
Components: main
Enabled: no

# A comment.
Types: deb deb-src
URIs: http://two.invalid/debian
Suites: bookworm bookworm-backports
Components: main
Check-Valid-Until: no
END
before=$(cat "$work/sources.list" "$work/sources.list.d/two.sources")
enable() {
  VOLTCHECK_APT_FOLDER=$work "$root/tools/setup/enable_components.sh" bookworm contrib non-free
}
fail() {
  echo "$*"
  exit 1
}
enable
enable # Once more changes nothing.
diff - "$work/sources.list.d/voltcheck.list" <<'END' || fail "one-line sources"
deb [arch=amd64 trusted=yes] http://one.invalid/debian bookworm non-free
deb [arch=amd64 trusted=yes] http://one.invalid/debian bookworm-updates non-free
END
diff - "$work/sources.list.d/voltcheck.sources" <<'END' || fail "deb822 sources"
Types: deb
URIs: http://two.invalid/debian
Check-Valid-Until: no
Suites: bookworm
Components: non-free

END
[[ $before == "$(cat "$work/sources.list" "$work/sources.list.d/two.sources")" ]] ||
  fail "the sources that existed were changed"

# Where everything is offered already, nothing is written.
rm "$work/sources.list.d/voltcheck."*
echo "deb http://three.invalid/debian bookworm non-free" >> "$work/sources.list"
enable
compgen -G "$work/sources.list.d/voltcheck.*" && fail "wrote sources that nothing needed"
exit 0
