#!/bin/bash
# gate.sh [ARGUMENT...]: installs what is missing, builds, and runs "voltcheck gate ARGUMENT...".
#
# Without arguments: --suite smoke. The exit status is the gate's own: 0 all passed, 1 a verdict
# failed, 2 wrong use, 3 something needed is not available, 4 interrupted. See docs/.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
"$root/tools/setup.sh"
"$root/tools/setup/build.sh" release voltcheck
if [[ $# == 0 ]]; then set -- --suite smoke; fi
exec "$root/build/release/tools/voltcheck" gate "$@"
