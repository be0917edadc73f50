"""Builds the worker and the check of products with what this machine has. Fetches nothing."""
import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
FOLDER = SOURCE / "build-gpu-check"  # as the preset says
WORKER, PRODUCTS = "fleetbench-gpu-worker", "gpu_product_check"
SHOWN_LINES = 25


class NotBuilt(Exception):
    """Why there is nothing to run, and what helps."""


def built(deadline):
    """The folder of the build. What the commands print goes to a file there."""
    if not shutil.which("cmake"):
        raise NotBuilt("there is no cmake in PATH; install it (Debian, Ubuntu: cmake), 3.22 or newer")
    FOLDER.mkdir(exist_ok=True)
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    print(f"gpu-check: builds {WORKER} in {FOLDER}", flush=True)
    run(["cmake", "--preset", "gpu-check", *launcher], deadline)
    jobs = str(len(os.sched_getaffinity(0)))
    run(["cmake", "--build", str(FOLDER), "--parallel", jobs, "--target", WORKER, PRODUCTS], deadline)
    return FOLDER


def programs_in(folder):
    """Paths of the worker and of the check of products. Throws NotBuilt."""
    paths = folder / WORKER, folder / "tests" / PRODUCTS
    for path in paths:
        if not os.access(path, os.X_OK):
            raise NotBuilt(f"{path} is not there; build {WORKER} and {PRODUCTS}, with a CUDA toolkit")
    return tuple(str(path) for path in paths)


def run(command, deadline):
    log = FOLDER / "gpu-check.log"
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            command, cwd=SOURCE, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
        try:
            code = process.wait(deadline.left())
        except subprocess.TimeoutExpired:
            raise NotBuilt(
                f"building took more than {deadline.seconds:g} s; it goes on where it was when gpu-check runs again"
            ) from None
        finally:
            end_group(process)
    if code != 0:
        raise NotBuilt(f"`{' '.join(command)}` failed:\n{end_of(log)}")


def end_group(process):
    """The command and what it started, which is in a process group of its own."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2)


def end_of(log):
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(["  " + line for line in lines if line.strip()][-SHOWN_LINES:]) + f"\n  (all of it: {log})"
