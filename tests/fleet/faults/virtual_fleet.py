"""A fleet of scripts/testfleet, and what the kernel says is left of it."""
import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent.parent
TESTFLEET = str(SOURCE / "scripts" / "testfleet")
DISK_MIB = 96
MAKING = threading.Lock()
STATE = Path("/run/fleetbench-testfleet")


def processes():
    """pid, command name and state letter of every process of this machine."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError):
                stat = (entry / "stat").read_text()
                name = stat[stat.index("(") + 1 : stat.rindex(")")]
                yield int(entry.name), name, stat[stat.rindex(")") + 2]


def cpu_s(pids):
    """Processor time that they have taken, in seconds."""
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class VirtualFleet:
    """Up from construction to down()."""

    def __init__(self, name, nodes=4):
        self.name = name
        self.nodes = [f"node{i}" for i in range(nodes)]
        self.members = ["head", *self.nodes]
        with MAKING:  # two at a time might choose the same network
            self._call("up", str(nodes), str(DISK_MIB))
        self._namespaces = {}
        for member in self.members:
            self._namespaces[os.stat(f"/run/netns/fb-{name}-{member}").st_ino] = member

    def _call(self, *arguments, check=True):
        command = [TESTFLEET, "--name", self.name, *arguments]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done

    def fault(self, *arguments):
        self._call("fault", *arguments)

    def cut(self, node):
        """As `fault cut`, but in one step: it has to hit its moment on a busy machine too."""
        uplink = f"v{node.removeprefix('node')}"
        subprocess.run(["ip", "-n", f"fb-{self.name}-head", "link", "set", uplink, "down"], timeout=60, check=True)

    def heal(self):
        self._call("heal", "all")

    def down(self):
        self._call("down")

    def address(self, node):
        for line in (STATE / self.name / "hosts").read_text().splitlines():
            address, host = line.split()
            if host == node:
                return address
        raise KeyError(node)

    def launcher(self, *mpirun_options):
        """The command that starts what is put behind it on all nodes."""
        return [TESTFLEET, "--name", self.name, "run", *mpirun_options, "--"]

    def running(self, member=None, comm=None):
        """pid → member, of what runs in the fleet's namespaces and has not died."""
        found = {}
        for pid, name, state in processes():
            if state in "ZX" or (comm is not None and name != comm[:15]):
                continue
            with contextlib.suppress(OSError):
                where = self._namespaces.get(os.stat(f"/proc/{pid}/ns/net").st_ino)
                if where is not None and member in (None, where):
                    found[pid] = where
        return found

    def signal(self, member, number, comm=None):
        """Signals each process named comm, or each; the pids of those. None there is an error."""
        pids = sorted(self.running(member, comm))
        if not pids:
            raise RuntimeError(f"{member} runs no process {comm or 'at all'}")
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return pids

    def stop_on_sight(self, member, comm, limit_s=30):
        """Freezes the first process of that name as soon as it is there."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            for pid in self.running(member, comm):
                os.kill(pid, signal.SIGSTOP)
                return pid
        raise RuntimeError(f"{member} has started no process {comm}")

    def disk(self, node):
        return STATE / self.name / "disk" / node

    def scratch_left(self):
        return sorted(str(path) for node in self.nodes for path in self.disk(node).glob("fleetbench-*"))

    def bytes_through(self, node):
        """What the node has sent and received."""
        for pid in self.running(node):
            with contextlib.suppress(OSError):
                for line in Path(f"/proc/{pid}/net/dev").read_text().splitlines():
                    name, _, counters = line.partition(":")
                    if name.strip() == "eth0":
                        fields = counters.split()
                        return int(fields[0]) + int(fields[8])
        return 0

    def left_on_the_machine(self):
        """After down(): names of namespaces, control groups, mounts and folders of this fleet."""
        netns = [p.name for p in Path("/run/netns").glob(f"fb-{self.name}-*")]
        groups = [str(p) for p in Path("/sys/fs/cgroup").glob(f"**/fleetbench-testfleet-{self.name}")]
        mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines() if f"/{self.name}/" in line]
        state = [str(p) for p in (STATE / self.name, Path(f"/var/tmp/fleetbench-testfleet-{self.name}")) if p.exists()]
        return netns + groups + mounts + state
