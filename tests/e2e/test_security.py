"""What is not trusted does no harm: texts, files that others put in the way, the environment."""
import json
import os
import re
import shutil
import unicodedata
import unittest
import zlib
from pathlib import Path

from fleetbench_process import FLEETBENCH, TINY, FleetbenchTest, execute, mpirun

# Terminal commands (C0 and C1), a line end, quotes, a backslash, writing from right to left, nothing
# to be seen.
HOSTILE = 'n"1\\\n\x1b[2J\x1b]0;t\x07\u009b31m\u202e\u2066\u200b\ufeff\x7f'
CONTROL = ("Cc", "Cf", "Zl", "Zp")

SMALL = {
    **TINY,
    "passes": 2,
    "steps": [
        {"probe": "cpu_gemm", "params": {"n": 64, "seconds": 0.01}},
        {"probe": "storage", "params": {"profiles": ["small_files"], "small_files": 20, "repetitions": 1}},
    ],
}


def steering(text):
    """Characters of a text that steer a terminal; a line end is its own."""
    return [character for character in text if unicodedata.category(character) in CONTROL and character != "\n"]


def sealed(record):
    line = json.dumps(record)[:-1]
    return f'{line},"crc":"{zlib.crc32(line.encode()):08x}"}}'


class HostileTexts(FleetbenchTest):
    def assert_harmless(self, *texts):
        for text in texts:
            self.assertEqual(steering(text), [], text)

    def run_directory(self):
        """A recorded run whose nodes, metrics and reasons are hostile."""
        run = self.directory / "run"
        command = [FLEETBENCH, "--suite", self.scenario(SMALL), "--nodes-by", "rank", "--no-confirm", "--out", str(run)]
        made = execute(mpirun(4) + [*command, "--only", "cpu_gemm"])
        self.assertIn(made.code, (0, 2, 3), made.err)
        header = json.loads((run / "run.json").read_text(encoding="utf-8"))
        for number, node in enumerate(header["nodes"]):
            node["name"] = HOSTILE + str(number)
            node["inventory"]["cpu"]["model"] = HOSTILE
        header["run_id"] = header["suite"] = header["version"] = header["build"] = HOSTILE
        (run / "run.json").write_text(json.dumps(header), encoding="utf-8")
        self.spoil_journal(run)
        return run

    def spoil_journal(self, run):
        lines = []
        for record in self.journal(run):
            del record["crc"]
            if record["t"] == "step":
                record["id"] += HOSTILE
                for metric in record["metrics"]:
                    metric.update(name=metric["name"] + HOSTILE, next_check=HOSTILE)
            elif record["t"] == "sample" and record["step"] > 0 and record["node"] == 3:
                record.update(status="failed", reason=HOSTILE, values=[])
            lines.append(sealed(record))
        lines.insert(-1, sealed({"t": "omission", "step": HOSTILE, "node": 2, "reason": HOSTILE}))
        # Damage, whose words quote the file.
        lines += [sealed({"t": HOSTILE}), json.dumps({"t": HOSTILE}), HOSTILE]
        (run / "journal.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def test_of_a_recorded_run(self):
        run = self.run_directory()
        prom = self.directory / "out.prom"
        for command in (["analyze", str(run)], ["analyze", str(run), "--json"], ["report", str(run)]):
            with self.subTest(command=command):
                shown = execute([FLEETBENCH, *command])
                self.assertIn(shown.code, (0, 2, 3), shown.err)
                self.assert_harmless(shown.out, shown.err)
                self.assertIn("2J", shown.out)
        execute([FLEETBENCH, "report", str(run), "--prometheus", str(prom)])
        self.assert_is_exposition(prom.read_text(encoding="utf-8"))
        baseline = self.directory / "b.json"
        built = execute([FLEETBENCH, "baseline", "build", str(run), "-o", str(baseline)])
        self.assert_harmless(built.out, built.err)
        if built.code == 0:
            self.assert_harmless(baseline.read_text(encoding="utf-8"), execute([FLEETBENCH, "baseline", "show", str(baseline)]).out)

    def assert_is_exposition(self, text):
        self.assert_harmless(text)
        label = r'[a-z_]+="(?:[^"\\]|\\[\\"n])*"'
        for line in text.splitlines():
            self.assertRegex(line, rf"^(#.*|[a-z_]+(\{{{label}(,{label})*\}})? \S+)$")

    def test_of_an_imported_file(self):
        quoted = HOSTILE.replace('"', '""')
        rows = [f'"{quoted}{n}","{quoted}m",{10 + n / 100 + p / 1000},GB/s,{p}' for n in range(8) for p in range(3)]
        rows += [f'"{quoted}x","{quoted}m",{HOSTILE.splitlines()[1].replace(",", "")},GB/s,1']
        path = self.directory / "samples.csv"
        path.write_text("node,metric,value,unit,pass\n" + "\n".join(rows) + "\n", encoding="utf-8")
        for options in ([], ["--json"]):
            shown = execute([FLEETBENCH, "analyze", str(path), *options])
            self.assertIn(shown.code, (0, 2, 3), shown.err)
            self.assert_harmless(shown.out, shown.err)
        self.assertEqual(json.loads(shown.out)["metrics"][0]["metric"], HOSTILE + "m")

    def test_of_messages_that_quote_a_file_or_a_path(self):
        for text in (HOSTILE, "{" + HOSTILE, "\x1b[2J\xff", '{"node": 1}' + HOSTILE, "node,metric,value\n" + HOSTILE):
            path = self.directory / ("f\x1b[2J\u202e" + str(len(text)))
            path.write_bytes(text.encode("utf-8", "replace") + b"\xff\xfe\x9b")
            for command in (["analyze"], ["--suite"], ["baseline", "show"], ["run", "--suite", "quick", "--baseline"]):
                with self.subTest(command=command, text=text):
                    said = execute([FLEETBENCH, *command, str(path)])
                    self.assertEqual(said.code, 64, said.err)
                    self.assert_harmless(said.out, said.err)
                    self.assertIn("\\x1b[2J", said.err)

    def test_of_reasons_that_a_command_gives(self):
        step = {"probe": "command", "params": {"argv": ["sh", "-c", f"printf '%s' '{HOSTILE}' >&2; exit 3"], "metrics": [{"name": "a_s"}]}}
        run = self.directory / "run"
        scenario = self.scenario({**TINY, "passes": 1, "steps": [step]})
        shown = execute([FLEETBENCH, "--suite", scenario, "--out", str(run)])
        self.assert_harmless(shown.out, shown.err)
        for name in ("report.json", "fleetbench.prom"):
            self.assert_harmless((run / name).read_text(encoding="utf-8"))


class NothingElse(FleetbenchTest):
    def measure(self, *options, env=None, work=None, prefix=()):
        scratch = self.directory / "scratch"
        scratch.mkdir(exist_ok=True)
        run = self.directory / "run"
        command = [FLEETBENCH, "--suite", self.scenario(SMALL), "--out", str(run), "--scratch", str(scratch), *options]
        result = execute([*prefix, *mpirun(2), *command, "--nodes-by", "rank"], env=env, cwd=work, timeout=300)
        self.assertIn(result.code, (0, 2, 3), result.err)
        return run, scratch

    def test_no_environment_is_recorded(self):
        secret = "s3cr3t-in-the-environment"
        env = dict(os.environ, FOO_TOKEN=secret, FLEETBENCH_TOKEN=secret + "2", OMPI_MCA_foo=secret)
        run, _ = self.measure(env=env)
        files = [path for path in run.rglob("*") if path.is_file()]
        self.assertGreaterEqual(len(files), 5)
        for path in files:
            text = path.read_text(encoding="utf-8")
            self.assertNotIn(secret, text, path)
            self.assertNotIn("FOO_TOKEN", text, path)

    def test_files_are_written_in_the_run_directory_and_in_scratch_only(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        trace = self.directory / "trace"
        calls = "trace=openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mknod,mknodat"
        # A sanitized program cannot look for leaks while it is traced.
        env = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
        run, scratch = self.measure(env=env, work=self.directory, prefix=["strace", "-f", "-q", "-y", "-z", "-e", calls, "-s", "400", "-o", str(trace)])
        strange = set()
        for path, line in written_paths(trace.read_text(encoding="utf-8", errors="replace")):
            if not any(Path(path).is_relative_to(folder) for folder in (run, scratch)) and not is_of_mpi_or_kernel(path):
                strange.add(line)
        self.assertEqual(strange, set())
        self.assertEqual(list(scratch.iterdir()), [])

    def test_others_may_not_write_what_is_written_whatever_the_umask(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        run, _ = self.measure()
        for path in [run, *run.rglob("*")]:
            self.assertEqual(path.stat().st_mode & 0o022, 0, path)

    def test_a_run_as_another_user_needs_nothing_of_root(self):
        if os.geteuid() != 0:
            self.skipTest("this is not root anyway")
        os.chmod(self.directory, 0o777)
        # Where it was built others may not look.
        program = self.directory / "bin" / Path(FLEETBENCH).name
        program.parent.mkdir()
        for name in (program.name, "fleetbench-worker"):
            shutil.copy(Path(FLEETBENCH).with_name(name), program.parent)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", f"HOME={self.directory}", "TMPDIR=/tmp"]
        run = self.directory / "run"
        scenario = self.scenario({**SMALL, "passes": 1})
        result = execute([*nobody, program, "--suite", scenario, "--out", str(run)], cwd=self.directory)
        self.assertIn(result.code, (0, 2, 3), result.err)
        states = {r["status"] for r in self.journal(run) if r.get("t") == "sample"}
        self.assertEqual(states, {"ok"}, (run / "journal.jsonl").read_text())


WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")


def written_paths(trace):
    """(path, line) of each call that makes or opens a file to be written."""
    for line in trace.splitlines():
        call = re.match(r'\d+ +(\w+)\((.*)$', line)
        if call is None or (call[1] in ("open", "openat") and not WRITES.search(line)):
            continue
        for folder, name in re.findall(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"([^"]*)"', call[2]):
            yield os.path.join(folder or "/", name), line


def is_of_mpi_or_kernel(path):
    # Devices, the kernel's own files, Open MPI's session folders and shared memory, ThreadSanitizer's map.
    return re.match(r"/(dev|proc|sys)/|/tmp/(tsan\.rodata|ompi\.|openmpi-sessions|pmix)|.*/(ompi\.|pmix-|gds_|dstore_)", path) is not None


if __name__ == "__main__":
    unittest.main(verbosity=2)
