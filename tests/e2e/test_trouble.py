"""Storage and input probes in trouble, in whole runs: the result says what happened, the scratch is
gone, and the run is completed."""
import contextlib
import os
import shutil
import subprocess
import threading
import time
import unittest
from pathlib import Path

from fleetbench_process import FLEETBENCH, TIME_SCALE, FleetbenchTest, execute, mpirun

SMALL_FILES = {"profiles": ["small_files"], "small_files": 20000, "small_file_bytes": 4096, "repetitions": 1}
SEQUENTIAL = {"profiles": ["sequential"], "sequential_bytes": 8388608, "repetitions": 1}
IMAGES = {"images": 64, "batch": 8, "seconds": 2, "forms": ["files"]}


class TroubleTest(FleetbenchTest):
    def setUp(self):
        super().setUp()
        self.scratch = self.directory / "scratch"
        self.scratch.mkdir()

    def run_step(self, probe, params, *, ranks=2, environment=None, scratch=None, limit_s=30):
        run = self.directory / "run"
        scenario = {
            "schema": "fleetbench-scenario/1.1",
            "name": "trouble",
            "passes": 2,
            "steps": [
                {"probe": probe, "params": params, "limit_s": limit_s},
                {"probe": "cpu_gemm", "params": {"n": 64, "seconds": 0.01}},
            ],
        }
        command = [FLEETBENCH, "--suite", self.scenario(scenario), "--out", str(run), "--nodes-by", "rank"]
        command += ["--scratch", str(scratch or self.scratch), "--no-confirm"]
        env = {**os.environ, **(environment or {})}
        result = execute(mpirun(ranks) + command, env=env)
        self.assertTrue((run / "verdict").exists(), result.err)
        records = self.journal(run)
        steps = {record["step"]: record["probe"] for record in records if record.get("t") == "step"}
        samples = [record for record in records if record.get("t") == "sample"]
        of_gemm = [s for s in samples if steps[s["step"]] == "cpu_gemm"]
        self.assertEqual([s["status"] for s in of_gemm], ["ok"] * 2 * ranks, "the run was not completed")
        self.assert_nothing_is_left(scratch or self.scratch)
        return [s for s in samples if steps[s["step"]] == probe], self.report(run)

    def assert_nothing_is_left(self, folder):
        end = time.monotonic() + 10 * TIME_SCALE  # a killed worker's scratch goes a moment after it
        while time.monotonic() < end and any(Path(folder).glob("fleetbench-*")):
            time.sleep(0.1)
        self.assertEqual(list(Path(folder).glob("fleetbench-*")), [])

    def all_say(self, samples, status, *texts):
        self.assertTrue(samples)
        for sample in samples:
            self.assertEqual(sample["status"], status, sample)
            for text in texts:
                self.assertIn(text, sample["reason"])

    def fake_fio(self, script):
        folder = self.directory / "bin"
        folder.mkdir()
        fio = folder / "fio"
        fio.write_text("#!/bin/sh\n" + script)
        fio.chmod(0o755)
        return {"PATH": f"{folder}:{os.environ['PATH']}"}

    def path_without_fio(self):
        folder = self.directory / "bin"
        folder.mkdir()
        for name in ("mpirun", "orted", "sh"):
            (folder / name).symlink_to(shutil.which(name))
        return {"PATH": str(folder), "OMPI_MCA_plm_rsh_agent": "/bin/true"}  # one machine needs no ssh

    @contextlib.contextmanager
    def meanwhile(self, act):
        """act(folder) again and again on each scratch folder that is there, in a thread."""
        over = threading.Event()

        def watch():
            while not over.wait(0.005):
                for folder in self.scratch.glob("fleetbench-*"):
                    with contextlib.suppress(OSError):
                        act(folder)

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


class Trouble(TroubleTest):
    def test_fio_missing(self):
        samples, report = self.run_step("storage", SEQUENTIAL, environment=self.path_without_fio())
        self.all_say(samples, "skipped", "fio is not installed", "apt install fio")
        self.assertTrue(any("storage" in item["what"] for item in report["not_measured"]))

    def test_fio_killed(self):
        samples, _ = self.run_step("storage", SEQUENTIAL, environment=self.fake_fio("kill -9 $$"))
        self.all_say(samples, "failed", str(self.scratch), "ended by signal 9 (Killed)")

    def test_fio_prints_an_error_before_its_json(self):
        script = """echo 'fio: io_u error on file big.0: Input/output error: read offset=0, buflen=4096'
                    echo '{"fio version": "fio-3.33", "jobs": [{"jobname": "x", "error": 5}]}'
                    exit 1"""
        samples, _ = self.run_step("storage", SEQUENTIAL, environment=self.fake_fio(script))
        self.all_say(samples, "failed", "Input/output error")

    def test_fio_hangs(self):
        params = {**SEQUENTIAL, "fio_limit_s": 1}
        samples, _ = self.run_step("storage", params, environment=self.fake_fio("exec sleep 100"))
        self.assertEqual({s["status"] for s in samples}, {"timeout"})
        self.assertIn(str(self.scratch), samples[0]["reason"])

    def test_a_probe_that_hangs_in_its_folder_is_a_timeout_that_names_it(self):
        params = {**SEQUENTIAL, "fio_limit_s": 3000}
        samples, _ = self.run_step("storage", params, environment=self.fake_fio("exec sleep 100"), limit_s=1.5)
        self.assertEqual({s["status"] for s in samples}, {"timeout"})
        self.assertIn(f"at work in {self.scratch} (sequential)", samples[0]["reason"])

    def test_a_folder_that_is_not_there(self):
        samples, _ = self.run_step("storage", SMALL_FILES, scratch=self.directory / "nowhere")
        self.all_say(samples, "failed", "nowhere: No such file or directory", "--scratch")

    def test_a_folder_removed_while_it_is_measured(self):
        with self.meanwhile(shutil.rmtree):
            samples, _ = self.run_step("storage", SMALL_FILES)
        self.assertTrue(samples)
        for sample in samples:
            self.assertEqual(sample["status"], "failed", sample)
            self.assertIn(str(self.scratch), sample["reason"])

    def test_an_image_damaged_on_the_disk(self):
        def damage(folder):
            journal = self.directory / "run" / "journal.jsonl"
            if journal.read_text().count('"t":"sample"') < 4:
                return  # not before the first pass
            for image in list((folder / "files").glob("*"))[:4]:
                with image.open("r+b") as file:
                    file.seek(300)
                    file.write(bytes(2000))

        with self.meanwhile(damage):
            samples, _ = self.run_step("image_decode", IMAGES)
        self.assertEqual(samples[0]["status"], "ok", samples[0])
        bad = [s for s in samples if s["status"] != "ok"]
        self.assertTrue(bad, "the damage was not seen")
        for sample in bad:
            self.assertIn(sample["status"], ("wrong", "failed"))
            self.assertIn("files/", sample["reason"])


@unittest.skipUnless(os.geteuid() == 0, "mounting needs root")
class TroubleOfFileSystems(TroubleTest):
    def mount(self, options):
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "none", str(self.scratch)], capture_output=True, check=False
        )
        if made.returncode != 0:
            self.skipTest(f"cannot mount: {made.stderr.decode()}")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", str(self.scratch)], check=False))

    # Inodes run out while bytes are free, so that no filler has to race with the probe.
    def test_a_disk_that_fills_up(self):
        self.mount("size=1g,nr_inodes=2000")
        samples, _ = self.run_step("storage", SMALL_FILES)
        self.all_say(samples, "failed", "No space left on device", str(self.scratch))

    def test_a_disk_with_little_room(self):
        self.mount("size=16m")
        samples, _ = self.run_step("storage", SMALL_FILES)
        self.all_say(samples, "failed", str(self.scratch), "MB free", "at most 20 %")

    def test_a_read_only_path(self):
        self.mount("ro")
        samples, _ = self.run_step("storage", SMALL_FILES)
        self.all_say(samples, "failed", "Read-only file system", "--scratch")

    def test_another_file_system_than_expected(self):
        self.mount("size=1g")
        samples, _ = self.run_step("storage", {**SMALL_FILES, "small_files": 100})
        self.assertEqual({s["detail"]["facts"]["fs_type"] for s in samples}, {"tmpfs"})
        self.assertEqual({s["detail"]["facts"]["medium"] for s in samples}, {"memory"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
