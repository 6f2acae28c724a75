#!/bin/bash
# kill_ranks.sh VOLTCHECK [ROUNDS [SEED]]: sweeps over MPI ranks to which something happens.
#
# Each round starts a sweep on 2, 4 or 7 ranks, waits a random moment, and then kills a rank, kills rank 0, kills the
# launcher, stops a rank for good, stops rank 0, or sends SIGTERM; then the same command with --resume runs on
# another number of ranks, until it is complete, with further accidents on the way. The run file must be that of
# one process, byte for byte. It takes minutes, so it is run by hand; tests/scale/mpi_test.cpp has a short one.
set -euo pipefail
voltcheck=$(realpath "$1")
rounds=${2:-20}
RANDOM=${3:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
sweep=(sweep --grid 'h=64;i=32;e=4;k=2;g=32;t=1,2,4,8;seed=1..32' --quiet --rank-timeout 2)
accidents=(kill-rank kill-rank-0 kill-launcher stop-rank stop-rank-0 terminate)
declare -A seen

launch() {  # RANKS: starts the sweep in a process group of its own and waits for it
  exec setsid mpirun --allow-run-as-root --oversubscribe --bind-to none -np "$1" \
    "$voltcheck" "${sweep[@]}" --out run.h5 --resume >out.txt 2>err.txt
}

# Ranks of the launcher $1, rank 0 first.
ranks_of() {
  for process in $(pgrep -P "$1"); do
    rank=$(tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | sed -n 's/^OMPI_COMM_WORLD_RANK=//p')
    [ -n "$rank" ] && echo "$rank $process"
  done | sort -n | cut -d' ' -f2
}

"$voltcheck" "${sweep[@]}" --out one.h5
for ((round = 1; round <= rounds; ++round)); do
  rm -f run.h5 .run.h5*
  tries=0
  status=1
  while [ $status != 0 ] || [ ! -e run.h5 ]; do
    ((++tries <= 40)) || { echo "round $round: never complete"; cat err.txt; exit 1; }
    counts=(2 4 7)
    launch "${counts[RANDOM % 3]}" &
    launcher=$!
    accident=none
    if ((tries <= 3)); then
      accident=${accidents[RANDOM % ${#accidents[@]}]}
      sleep "$((RANDOM % 3)).$((RANDOM % 10))$((RANDOM % 10))"
      mapfile -t processes < <(ranks_of "$launcher")
      if ((${#processes[@]} < 2)); then
        accident=none
      else
        other=${processes[1 + RANDOM % (${#processes[@]} - 1)]}
        case $accident in
          kill-rank) kill -9 "$other" ;;
          kill-rank-0) kill -9 "${processes[0]}" ;;
          kill-launcher) kill -9 "$launcher" ;;
          stop-rank) kill -STOP "$other" ;;
          stop-rank-0) kill -STOP "${processes[0]}" ;;
          terminate) kill -TERM "$launcher" ;;
        esac 2>/dev/null || accident=none
      fi
    fi
    seen[$accident]=$((${seen[$accident]:-0} + 1))
    status=0
    wait "$launcher" 2>/dev/null || status=$?
    # Ranks of a launcher that was killed end by themselves, or are ended here as an administrator would.
    for process in ${processes[@]+"${processes[@]}"}; do kill -9 "$process" 2>/dev/null || true; done
    processes=()
  done
  cmp one.h5 run.h5
done
echo "$rounds sweeps, each equal to the one-process run; accidents:"
for accident in "${!seen[@]}"; do echo "  $accident ${seen[$accident]}"; done | sort
