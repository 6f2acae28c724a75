#!/bin/bash
# test.sh [ARGUMENT...]: installs what is missing, builds, and runs every test.
#
# Arguments go to CTest: "tools/test.sh -R simulator" runs those whose name holds "simulator".
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
"$root/tools/setup.sh" tests
"$root/tools/setup/build.sh" release
exec ctest --test-dir "$root/build/release" --output-on-failure -j "$(nproc)" "$@"
