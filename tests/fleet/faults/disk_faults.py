"""Full, read-only and vanished file systems, of the run directory and of a node's scratch."""
import contextlib
import shutil
import subprocess
from pathlib import Path

from . import moments, scenarios
from .expectation import COMPLETE, NO_RESULT, Expectation
from .kind import Kind, always, at

OUT_MIB = 64


def command(*words):
    subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)


def mounted(stage, *words):
    """The run directory's parent is a file system of its own."""
    stage.out = stage.folder / "mount"
    stage.out.mkdir()
    command("mount", *words, str(stage.out))
    stage.undo_last(command, "umount", "--lazy", str(stage.out))


def small_disk(stage):
    mounted(stage, "-t", "tmpfs", "-o", f"size={OUT_MIB}m", "none")


def disk_with_a_journal(stage):
    image = stage.folder / "image"
    with image.open("wb") as file:
        file.truncate(OUT_MIB << 20)
    command("mkfs.ext4", "-q", "-F", str(image))
    mounted(stage, "-o", "loop,errors=remount-ro", str(image))


def fill(path):
    """To the last byte; the filler's path."""
    filler = path / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        for block in (1 << 20, 4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(block))
    return filler


def fills_up(stage):
    stage.undo(fill(stage.out).unlink)


def remounts_read_only(stage):
    source = next(
        line.split()[0] for line in Path("/proc/mounts").read_text().splitlines() if line.split()[1] == str(stage.out)
    )
    Path(f"/sys/fs/ext4/{Path(source).name}/trigger_fs_error").write_text("a test of fleetbench")


def removes_the_run_directory(stage):
    shutil.rmtree(stage.launched.run)


def fills_scratch(stage):
    stage.undo(fill(stage.fleet.disk(stage.victim)).unlink)


# Nothing can be written any more, but it can be said.
UNWRITTEN = Expectation(COMPLETE.verdicts, on_disk=False, complete=False, said="No space left on device")
READ_ONLY = Expectation(COMPLETE.verdicts, on_disk=False, complete=False, said="Read-only file system")
REMOVED = Expectation(COMPLETE.verdicts, on_disk=False, kept=False, complete=False, said="No such file or directory")

KINDS = [
    Kind("disk_full", "the disk of the run directory fills up", fills_up, always(UNWRITTEN), before=small_disk),
    Kind("disk_read_only", "its file system turns read-only", remounts_read_only, always(READ_ONLY),
         before=disk_with_a_journal),
    Kind("run_removed", "the run directory is removed", removes_the_run_directory, always(REMOVED)),
    Kind("scratch_full", "the scratch disk of a node fills up", fills_scratch,
         at(NO_RESULT, NO_RESULT, COMPLETE), scenario=scenarios.STORED,
         moments={"gathering": lambda stage: moments.gathering(stage, before=("storage", 1))}),
]  # fmt: skip
