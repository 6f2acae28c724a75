#!/bin/bash
# netns_ranks.sh VOLTCHECK [HOSTS]: a sweep over "hosts" that are network namespaces of this machine.
#
# Each host has an address of its own and reaches the others over a bridge alone; mpirun starts its daemons
# there through a launch agent in the place of ssh. The run file must be that of one process, byte for byte.
# Needs root, iproute2 and Open MPI; without them it says so and ends with status 77.
set -euo pipefail
skip() {
  echo "skipped: $1; sweeps over several hosts were NOT tested"
  exit 77
}
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
command -v ip >/dev/null || skip "iproute2 is not installed"
command -v mpirun >/dev/null || skip "Open MPI is not installed"
plugin=$(dirname "$(dirname "$(realpath "$1")")")/lib/voltcheck/libvoltcheck_mpi.so
[ -e "$plugin" ] || skip "this build has no MPI"
ip netns add "vchk$$-try" 2>/dev/null || skip "network namespaces cannot be made here"
ip netns del "vchk$$-try"
voltcheck=$(realpath "$1")
hosts=${2:-3}
folder=$(mktemp -d)
prefix=vchk$$
cleanup() {
  for ((i = 0; i < hosts; ++i)); do ip netns del "$prefix-$i" 2>/dev/null || true; done
  ip link del "br$$" 2>/dev/null || true
  rm -rf "$folder"
}
trap cleanup EXIT

ip link add "br$$" type bridge 2>/dev/null || skip "network bridges cannot be made here"
ip link set "br$$" up
list=
for ((i = 0; i < hosts; ++i)); do
  ip netns add "$prefix-$i"
  ip link add "v$$-$i" type veth peer name eth0 netns "$prefix-$i"
  ip link set "v$$-$i" master "br$$" up
  ip -n "$prefix-$i" addr add "10.77.0.$((i + 1))/24" dev eth0
  ip -n "$prefix-$i" link set eth0 up
  ip -n "$prefix-$i" link set lo up
  list+=${list:+,}10.77.0.$((i + 1)):2
done

# What mpirun calls instead of ssh: the host, then the command's words.
cat >"$folder/agent" <<AGENT
#!/bin/bash
host=\$1
shift
exec ip netns exec "$prefix-\$((\${host##*.} - 1))" /bin/sh -c "\$*"
AGENT
chmod +x "$folder/agent"

sweep=(sweep --grid 'h=64;i=32;e=4;k=2;g=32;t=1,2,4;seed=1..16' --quiet)
"$voltcheck" "${sweep[@]}" --out "$folder/one.h5"
ip netns exec "$prefix-0" mpirun --allow-run-as-root --bind-to none -np $((2 * hosts)) --host "$list" \
  --mca plm_rsh_agent "$folder/agent" --mca plm rsh --mca btl self,tcp \
  --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
  "$voltcheck" "${sweep[@]}" --out "$folder/all.h5"
cmp "$folder/one.h5" "$folder/all.h5"
echo "$((2 * hosts)) ranks on $hosts hosts: the run file is that of one process"
