#!/usr/bin/env bash
# Tests scripts/testfleet on this machine. Exit code 0: passed, 1: failed, 77: skipped, with a reason.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export FLEETBENCH_TESTFLEET=test$$
fleet=$FLEETBENCH_TESTFLEET
failures=0

testfleet() { "$root/scripts/testfleet" "$@"; }

skip() { echo "SKIPPED: $*"; exit 77; }

check() { # WHAT CMD…
  if "${@:2}"; then echo "ok: $1"; else echo "FAILED: $1"; failures=$((failures + 1)); fi
}
equal() { [[ $1 == "$2" ]] || { echo "  expected '$2', got '$1'"; return 1; }; }
less() { (($1 < $2)) || { echo "  expected less than $2, got $1"; return 1; }; }
at_least() { (($1 >= $2)) || { echo "  expected at least $2, got $1"; return 1; }; }
exits() { local rc=0; "${@:2}" >/dev/null 2>&1 || rc=$?; equal "$rc" "$1"; } # CODE CMD…

status_of() { testfleet status | grep "^$1 "; }
shows() { [[ $(status_of "$1") == *"$2" ]] || { echo "  expected '$2' in: $(status_of "$1")"; return 1; }; }

leftovers() {
  ip netns list | grep "^fb-$fleet-" || true
  grep -o "/run/[^ ]*${fleet}[^ ]*" /proc/self/mounts || true
  find /sys/fs/cgroup -name "fleetbench-testfleet-$fleet" 2>/dev/null || true
  ls -d "/run/fleetbench-testfleet/$fleet" "/var/tmp/fleetbench-testfleet-$fleet" 2>/dev/null || true
  losetup --noheadings --output BACK-FILE 2>/dev/null | grep "testfleet-$fleet/" || true
  ip -o link show | awk '{ print $2 }' >"$tmp/links"
  diff "$tmp/links_before" "$tmp/links" || true
}

milliseconds() { # CMD…
  local start=$EPOCHREALTIME
  "$@" >/dev/null
  echo $(((${EPOCHREALTIME/[.,]/} - ${start/[.,]/}) / 1000))
}

# CPU time, in ms, that one second of a busy loop in the node gets.
cpu_in_a_second() {
  # shellcheck disable=SC2016  # for the node's shell
  testfleet exec "$1" -- bash -c '
    end=$((${EPOCHREALTIME/[.,]/} + 1000000))
    while ((${EPOCHREALTIME/[.,]/} < end)); do :; done
    read -r _ _ _ _ _ _ _ _ _ _ _ _ _ user system _ </proc/self/stat
    echo $(((user + system) * 1000 / $(getconf CLK_TCK)))'
}

# mpirun carries stdin to rank 0, on node0, and stdout back: 4 MB over node0's link.
four_megabytes() { head -c 4000000 /dev/zero; }
send_to_node0() { four_megabytes | testfleet run -np 1 -- wc -c; }
receive_from_node0() { testfleet run -np 1 -- head -c 4000000 /dev/zero; }

# A closed port answers at once with "refused" (1); a cut link never (124).
knock() { exits "$2" testfleet exec head -- timeout 0.5 bash -c "</dev/tcp/$(address_of "$1")/1"; }
address_of() { status_of "$1" | awk '{ print $2 }'; }

wait_for() { # CMD…; ten seconds
  for _ in {1..100}; do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  echo "  waited in vain for: $*"
  return 1
}
runs_sleep() { [[ $(testfleet status | grep -c ' 2 processes') == 3 ]]; } # an orted and a sleep each

test_nodes() {
  check "a second up is refused" exits 1 testfleet up 1
  check "a node has its hostname" equal "$(testfleet exec node2 -- hostname)" node2
  check "a node is found by its address" equal "$(testfleet exec "$(address_of node1)" -- hostname)" node1
  check "a node sees its own links only" equal "$(testfleet exec node0 -- ls /sys/class/net | sort | xargs)" "eth0 lo"
  check "names resolve in a node" equal "$(testfleet exec node0 -- getent hosts node2 | xargs)" "$(address_of node2) node2"
  check "an unknown node is refused" exits 1 testfleet exec node3 -- true
  check "exec returns the command's exit code" exits 9 testfleet exec node0 -- sh -c 'exit 9'
  check "an unknown command is a usage error" exits 64 testfleet bogus
}

test_run() {
  check "one rank per node" equal "$(testfleet run -- hostname | sort | xargs)" "node0 node1 node2"
  check "run works with stdin closed" equal "$(testfleet run -np 1 -- hostname <&-)" node0
  check "the environment reaches the ranks" equal "$(MARK=seen testfleet run -np 1 -- printenv MARK)" seen
  check "run returns mpirun's exit code" exits 7 testfleet run -np 1 -- sh -c 'exit 7'
  check "run takes another agent" equal "$(with_another_agent run -- hostname | sort | xargs)" "node0 node1 node2"
  check "it is asked for each node" equal "$(wc -l <"$tmp/asked")" 3
}

with_another_agent() { # COMMAND…
  # shellcheck disable=SC2016  # for the agent
  printf '#!/bin/sh\necho "$1" >>%s\nexec %s "$@"\n' "$tmp/asked" "$root/scripts/testfleet-agent" >"$tmp/agent"
  chmod +x "$tmp/agent"
  FLEETBENCH_TESTFLEET_AGENT=$tmp/agent testfleet "$@"
}

# 4 MB from one node to another, over TCP.
send() { # FROM TO
  local receiver
  testfleet exec "$2" -- python3 -c '
import socket, sys
listener = socket.create_server(("", 7001))
connection, _ = listener.accept()
connection.settimeout(20)
while connection.recv(1 << 16): pass
' &
  receiver=$!
  testfleet exec "$1" -- python3 -c '
import socket, sys, time
for _ in range(200):
    try:
        connection = socket.create_connection((sys.argv[1], 7001), timeout=20)
        break
    except OSError:
        time.sleep(0.02)
connection.sendall(bytes(4000000))
' "$(address_of "$2")"
  wait "$receiver"
}

test_leaves() {
  local slow fast
  testfleet up 4 0 --leaves 2
  check "leaves are listed" equal "$(testfleet topology | paste -sd';')" \
    "SwitchName=leaf0 Nodes=node0,node1;SwitchName=leaf1 Nodes=node2,node3;SwitchName=spine Switches=leaf0,leaf1"
  testfleet fault path node0 node3 20mbit
  check "a path is shown" shows node0 "path to node3 20Mbit"
  slow=$(milliseconds send node0 node3)
  check "a slow path slows what goes that way" at_least "$slow" 1400
  check "not the way back" less "$(milliseconds send node3 node0)" "$slow"
  check "nor another peer" less "$(milliseconds send node0 node2)" "$slow"
  check "a node with a slow path is not shaped as a whole" exits 1 testfleet fault link node0 20mbit
  testfleet heal node0
  check "a path is healed" shows node0 "no fault"
  testfleet fault switch leaf1 20mbit
  check "a switch is shown" shows leaf1 "switch 20Mbit"
  check "a slow switch slows what passes it" at_least "$(milliseconds send node0 node3)" 1400
  check "and what stays in it" at_least "$(milliseconds send node2 node3)" 1400
  fast=$(milliseconds send node0 node1)
  check "and no other" less "$fast" 1400
  testfleet heal leaf1
  check "a switch is healed" shows leaf1 "no fault"
  check "a switch that is not there is an error" exits 1 testfleet fault switch leaf7 20mbit
  check "a path to itself is a usage error" exits 64 testfleet fault path node0 node0 20mbit
  check "more leaves than nodes are a usage error" exits 64 testfleet --name other up 2 0 --leaves 3
  testfleet down
}

test_link() {
  local slowed
  check "no fault at first" shows node0 "no fault"
  testfleet fault link node0 20mbit in
  check "link in is shown" shows node0 "link in 20Mbit"
  slowed=$(milliseconds send_to_node0)
  check "link in slows what node0 receives" at_least "$slowed" 1400
  check "link in leaves what node0 sends" less "$(milliseconds receive_from_node0)" "$slowed"
  testfleet heal node0
  testfleet fault link node0 20mbit out
  check "link out is shown" shows node0 "link out 20Mbit"
  check "link out slows what node0 sends" at_least "$(milliseconds receive_from_node0)" 1400
  testfleet heal node0
  check "link is healed" shows node0 "no fault"
  check "a wrong rate is a usage error" exits 64 testfleet fault link node0 fast
}

test_cpu() {
  if ! testfleet fault cpu node1 25 2>/dev/null; then echo "skipped: no cpu cgroups here"; return; fi
  check "cpu is shown" shows node1 "cpu 25%"
  check "cpu slows the node" less "$(cpu_in_a_second node1)" 450
  # shellcheck disable=SC2016  # for the node's shell
  check "a node can read its quota" testfleet exec node1 -- bash -c '
    path=$(sed -nE "s/^[0-9]+:(cpu|cpu,cpuacct|):(.*node1)$/\2/p" /proc/self/cgroup)
    grep -qs ^25000 "/sys/fs/cgroup/cpu$path/cpu.cfs_quota_us" "/sys/fs/cgroup$path/cpu.max"'
  testfleet heal all
  check "cpu is healed" shows node1 "no fault"
}

# Milliseconds that 8 MiB from the node's disk take, past its cache.
read_from_disk() {
  testfleet exec "$1" -- dd if=/dev/zero of=/var/tmp/file bs=1M count=8 conv=fsync status=none
  milliseconds testfleet exec "$1" -- dd if=/var/tmp/file of=/dev/null bs=1M iflag=direct status=none
}

test_disk() {
  if ! testfleet fault disk node1 4MiB 2>/dev/null; then echo "skipped: no disks for nodes here"; return; fi
  check "disk is shown" shows node1 "disk 4096KiB/s"
  check "disk slows the node" at_least "$(read_from_disk node1)" 1400
  check "disk leaves other nodes" less "$(read_from_disk node2)" 1000
  # shellcheck disable=SC2016  # for the node's shell
  check "a node has its disk to itself" testfleet exec node2 -- sh -c \
    'test "$(stat -c %d /var/tmp)" != "$(stat -c %d /)" && test "$(find /var/tmp -name file | wc -l)" = 1'
  testfleet heal node1
  check "disk is healed" shows node1 "no fault"
  check "a wrong rate of a disk is a usage error" exits 64 testfleet fault disk node1 fast
  check "a wrong size of disks is a usage error" exits 64 testfleet with 1 8 -- true
}

test_processes() {
  local mpirun
  testfleet run -- sleep 60 2>/dev/null &
  mpirun=$!
  check "ranks start" wait_for runs_sleep
  testfleet fault freeze node1 sleep
  check "freeze by name stops one process" shows node1 "1 frozen"
  testfleet fault freeze node2
  check "freeze stops all processes" shows node2 "2 frozen"
  testfleet heal all
  check "frozen processes are healed" shows node1 "no fault"
  check "no such process is an error" exits 1 testfleet fault kill node1 nosuch
  testfleet fault kill node1 sleep
  check "mpirun notices a killed rank" exits 137 wait "$mpirun"
}

test_cut() {
  check "a node answers" knock node2 1
  testfleet fault cut node2
  check "cut is shown" shows node2 cut
  check "a cut node does not answer" knock node2 124
  testfleet heal node2
  check "a healed node answers" knock node2 1
}

# Takes the fleet down while another process enters a node: between the kill and the end of the node.
down_as_one_enters() {
  printf '#!/bin/sh\ncase "$*" in "netns delete "*-node0) "%s" exec node0 -- sleep 60 & sleep 1 ;; esac\nexec %s "$@"\n' \
    "$root/scripts/testfleet" "$(command -v ip)" >"$tmp/ip"
  chmod +x "$tmp/ip"
  PATH=$tmp:$PATH testfleet down 2>/dev/null
}

test_down() {
  testfleet exec node0 -- sleep 60 2>/dev/null &
  check "down while a node is entered" down_as_one_enters
  check "down leaves nothing" equal "$(leftovers)" ""
  check "down is idempotent" testfleet down
  check "without a fleet, status is an error" exits 1 testfleet status
}

test_with() {
  check "with returns the command's exit code" exits 5 testfleet with 2 -- sh -c 'exit 5'
  check "with leaves nothing" equal "$(leftovers)" ""
  check "a fleet that cannot be finished is an error" exits 2 with_broken_ip
  check "a half-made fleet leaves nothing" equal "$(leftovers)" ""
  check "SIGINT while it comes up" interrupted INT 130 0.05 exec node0 -- sleep 60
  check "SIGTERM while a node works" interrupted TERM 143 0.5 exec node0 -- sleep 60
  check "SIGINT while mpirun runs" interrupted INT 130 1 run -- sleep 60
}

with_broken_ip() {
  printf '#!/bin/sh\ncase "$*" in *"netns fb-%s-node1") exit 2 ;; esac\nexec %s "$@"\n' \
    "$fleet" "$(command -v ip)" >"$tmp/ip"
  chmod +x "$tmp/ip"
  PATH=$tmp:$PATH testfleet up 3
}

interrupted() { # SIGNAL CODE SECONDS TESTFLEET_COMMAND…
  local pid rc=0
  env --default-signal=INT "$root/scripts/testfleet" with 2 -- "$root/scripts/testfleet" "${@:4}" 2>/dev/null &
  pid=$!
  sleep "$3"
  kill -s "$1" "$pid"
  wait "$pid" || rc=$?
  equal "$rc" "$2" && equal "$(leftovers)" ""
}

((EUID == 0)) || skip "needs root"
for tool in ip tc nsenter unshare mpirun; do
  command -v "$tool" >/dev/null || skip "no '$tool' in PATH"
done
tmp=$(mktemp -d)
trap 'testfleet down; rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
ip -o link show | awk '{ print $2 }' >"$tmp/links_before"
testfleet up 3 || skip "cannot make network namespaces here"

test_nodes
test_run
test_link
test_cpu
test_disk
test_processes
test_cut
test_down
test_with
test_leaves
echo "$failures failed"
((failures == 0))
