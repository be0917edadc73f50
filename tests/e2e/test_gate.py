"""`fleetbench gate`, `resume` and `--budget`: whatever happens to ranks, launcher and root, there is
an end in time, a verdict, and everything that was measured."""
import json
import os
import signal
import time
import unittest
from pathlib import Path

from fleetbench_process import FLEETBENCH, LONG, TINY, FleetbenchTest, execute, mpirun

# Long enough to be disturbed, with a collective in each pass.
MIXED = {
    "schema": "fleetbench-scenario/1.0",
    "name": "mixed",
    "passes": 3,
    "steps": [
        {"probe": "cpu_gemm", "params": {"n": 192, "seconds": 0.3}},
        {"probe": "mpi_collectives", "params": {"end_bytes": 4096, "iterations": 30}},
    ],
}
PASS, WARN, FAIL, INCONCLUSIVE = 0, 1, 2, 3


class GateTest(FleetbenchTest):
    def setUp(self):
        super().setUp()
        self.run_directory = self.directory / "run"

    def suite(self, content):
        return ["--suite", self.scenario(content), "--nodes-by", "rank", "--no-confirm"]

    def gate(self, launcher, *options, content=MIXED):
        return [FLEETBENCH, "gate", "--out", str(self.run_directory), *options, "--", *launcher, FLEETBENCH] + self.suite(
            content
        )

    def rank(self, started, number):
        """The pid of a rank, once it is there."""

        def find():
            for pid in Path("/proc").iterdir():
                if pid.name.isdigit():
                    try:
                        if (pid / "comm").read_text().strip() != "fleetbench":
                            continue
                        variables = (pid / "environ").read_bytes().split(b"\0")
                        words = (pid / "cmdline").read_bytes()
                    except OSError:
                        continue
                    if f"OMPI_COMM_WORLD_RANK={number}".encode() in variables and str(self.directory).encode() in words:
                        return int(pid.name)
            return None

        return started.wait_for(find)

    def samples(self):
        journal = self.run_directory / "journal.jsonl"
        if not journal.exists():
            return []
        lines = [json.loads(line) for line in journal.read_text().splitlines() if line.endswith("}")]
        return [line for line in lines if line["t"] == "sample"]

    def measuring(self, samples=5):
        return lambda: len(self.samples()) >= samples

    def finish(self, started, within):
        start = time.monotonic()
        started.finish(timeout=within + 10)
        self.assertLess(time.monotonic() - start, within, started.err)
        verdict = execute([FLEETBENCH, "verdict", str(self.run_directory)])
        self.assertEqual(verdict.code, started.code, started.err)
        end = time.monotonic() + 5  # ranks told to stop take a moment
        while started.named("fleetbench") and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(started.named("fleetbench"), [], "ranks are left")
        return self.report(self.run_directory)

    def losses(self):
        return [r for r in self.journal(self.run_directory) if r["t"] == "loss"]


class Gate(GateTest):
    def test_a_whole_run_has_its_own_verdict(self):
        started = self.start(self.gate(mpirun(2), content=TINY))
        report = self.finish(started, 60)
        self.assertEqual(started.code, INCONCLUSIVE)  # two nodes blame nobody
        self.assertEqual(report["findings"], [])
        self.assertEqual(len(list((self.run_directory / "hello").iterdir())), 2)

    def test_a_killed_rank_is_named_and_the_others_measure_on(self):
        started = self.start(self.gate(mpirun(4)))
        started.wait_for(self.measuring())
        os.kill(self.rank(started, 2), signal.SIGKILL)
        report = self.finish(started, 90)
        self.assertEqual(started.code, FAIL)
        self.assertEqual([loss["rank"] for loss in self.losses()], [2])
        self.assertEqual(len(report["fleet"]["lost"]), 1)
        last = [s for s in self.samples() if s["pass"] == 2 and s["status"] == "ok"]
        self.assertEqual({s["node"] for s in last}, {0, 1, 3})

    def test_a_group_that_loses_a_member_is_measured_again_without_it(self):
        # The collectives take a second: the rank stops before they are over.
        gemm, collectives = MIXED["steps"]
        long = {**collectives, "params": {**collectives["params"], "iterations": 1000}}
        started = self.start(self.gate(mpirun(4), content={**MIXED, "passes": 2, "steps": [gemm, long]}))
        collective = 2  # position of the step

        def before_a_collective():
            done = [s for s in self.samples() if s["step"] == collective - 1 and s["pass"] == 1]
            return len(done) == 4

        started.wait_for(before_a_collective)
        os.kill(self.rank(started, 3), signal.SIGSTOP)
        report = self.finish(started, 90)
        in_pass = [s for s in self.samples() if s["step"] == collective and s["pass"] == 1]
        ok = {s["node"] for s in in_pass if s["status"] == "ok"}
        self.assertLessEqual(ok, {0, 1, 2}, in_pass)
        self.assertGreaterEqual(len(ok), 2, in_pass)
        # MPI may let some of a group go and not others. Who still hangs in it is left out, and that is said.
        hung = " ".join(n["reason"].split(": ")[0] for n in report["not_measured"] if "still hangs in their MPI" in n["reason"])
        self.assertEqual({node for node in (0, 1, 2, 3) if f":{node}" in hung}, {0, 1, 2} - ok, report["not_measured"])
        self.assertEqual([s for s in in_pass if s["status"] == "timeout"], [])
        self.assertEqual(self.losses()[0]["phase"] in ("prepare", "measure"), True)

    def test_a_killed_root_is_named(self):
        started = self.start(self.gate(mpirun(4)))
        started.wait_for(self.measuring())
        seen = len(self.samples())
        os.kill(self.rank(started, 0), signal.SIGKILL)
        report = self.finish(started, 30)
        self.assertEqual(started.code, FAIL)
        self.assertGreaterEqual(len(self.samples()), seen)
        self.assertTrue(any("rank 0" in e["text"] for f in report["findings"] for e in f["evidence"]))
        self.assert_follows_schemas(self.run_directory)

    def test_a_killed_launcher_leaves_a_verdict(self):
        started = self.start(self.gate(mpirun(4)))
        started.wait_for(self.measuring())
        [launcher] = started.named("mpirun")
        os.kill(launcher, signal.SIGKILL)
        report = self.finish(started, 30)
        self.assertIn("signal 9", json.dumps(report))

    def test_a_rank_that_stops_before_it_joins_does_not_hang_the_launch(self):
        stopper = self.directory / "stopper"
        stopper.write_text(
            '#!/bin/sh\nif [ "$OMPI_COMM_WORLD_RANK" = 2 ]; then exec sleep 300; fi\nexec "$@"\n'
        )
        stopper.chmod(0o755)
        command = self.gate([*mpirun(4), str(stopper)], "--launch-limit", "4s")
        started = self.start(command)
        report = self.finish(started, 30)
        self.assertEqual(started.code, FAIL)
        self.assertIn("rank 2", json.dumps(report["findings"]))
        self.assertEqual([loss["phase"] for loss in self.losses()], ["launch"])
        self.assert_follows_schemas(self.run_directory)

    def test_a_launcher_that_fails_is_inconclusive_with_its_words(self):
        for code in (0, 1, 137):
            with self.subTest(code=code):
                self.run_directory = self.directory / f"run{code}"
                script = ["sh", "-c", f"echo no slots here >&2; exit {code}", FLEETBENCH]
                command = [FLEETBENCH, "gate", "--out", str(self.run_directory), "--", *script]
                result = execute(command)
                self.assertEqual(result.code, INCONCLUSIVE, result.err)
                self.assertIn("no slots here", result.out)

    def test_sigterm_ends_it_with_what_there_is(self):
        started = self.start(self.gate(mpirun(3), content=LONG))
        started.wait_for(self.measuring())
        os.kill(started.process.pid, signal.SIGTERM)
        report = self.finish(started, 20)
        self.assertEqual(started.code, INCONCLUSIVE)
        self.assertEqual(report["verdict"], "INCONCLUSIVE")
        said = execute([FLEETBENCH, "analyze", str(self.run_directory)])
        self.assertEqual(said.code, INCONCLUSIVE, said.out)
        self.assertNotIn("damaged", said.out)
        self.assertNotIn("after the end", said.out)

    def test_again_without_the_host_that_does_not_come_up(self):
        self.addCleanup(os.umask, os.umask(0))
        launcher = self.directory / "launcher"
        launcher.write_text(
            "#!/bin/sh\n"
            'case "$1" in *there*) printf "\\033[2Jssh: connect to host there port 22: No route to host\\n" >&2; exit 255;; esac\n'
            "shift\n" + "exec " + " ".join(mpirun(2)) + ' "$@"\n'
        )
        launcher.chmod(0o755)
        command = [FLEETBENCH, "gate", "--out", str(self.run_directory), "--hosts", "here,there"]
        command += ["--retry-without-lost", "--", str(launcher), "{hosts}", FLEETBENCH, *self.suite(TINY)]
        started = self.start(command)
        report = self.finish(started, 60)
        self.assertEqual(started.code, FAIL)
        self.assertEqual([loss.get("rank") for loss in self.losses()], [None])
        self.assertEqual(report["findings"][0]["subject"]["node"], "there")
        for path in [self.run_directory, *self.run_directory.rglob("*")]:
            self.assertEqual(path.stat().st_mode & 0o022, 0, path)
        self.assertTrue((self.run_directory / "attempt-1").is_dir())
        for text in (started.err, json.dumps(report, ensure_ascii=False)):
            self.assertNotIn("\x1b", text)
        self.assertIn("No route to host", started.err)
        self.assertTrue([s for s in self.samples() if s["status"] == "ok"])


class BadInput(GateTest):
    def test_what_cannot_be_started_is_said(self):
        cases = [
            ([], "say after -- what to start"),
            (["--"], "say after -- what to start"),
            (["--", "mpirun", "hostname"], "has to start fleetbench"),
            (["--hosts", "n[1-", "--", "mpirun", FLEETBENCH], '"n[1-" is no list of nodes, as node[01-03,07]: a bracket is opened and never closed'),
            (["--budget", "3s", "--", "mpirun", FLEETBENCH], "--budget 3s: is not a time of at least 10 s"),
            (["--", "mpirun", FLEETBENCH, "--under-gate"], "--under-gate is for the gate to add"),
            (["--out", "a", "--", "mpirun", FLEETBENCH, "--out", "b"], "give it once"),
        ]
        for options, message in cases:
            with self.subTest(options=options):
                result = execute([FLEETBENCH, "gate", *options], cwd=self.directory)
                self.assertEqual(result.code, 64, result.err)
                self.assertIn(message, result.err)
                self.assertEqual(list(self.directory.iterdir()), [])

    def test_a_launcher_that_is_not_there(self):
        result = execute([FLEETBENCH, "gate", "--out", str(self.run_directory), "--", "mpiruns", FLEETBENCH])
        self.assertEqual(result.code, 70)
        self.assertIn("cannot start mpiruns", result.err)


class Budget(GateTest):
    def test_the_run_ends_within_it_and_lists_what_was_left_out(self):
        content = {**LONG, "passes": 50}
        start = time.monotonic()
        started = self.start(
            mpirun(2) + [FLEETBENCH, *self.suite(content), "--out", str(self.run_directory), "--budget", "12s"]
        )
        started.finish(timeout=60)
        self.assertLess(time.monotonic() - start, 17, started.err)
        report = self.report(self.run_directory)
        self.assertTrue(any("--budget" in item["reason"] for item in report["not_measured"]), report["not_measured"])
        self.assertTrue(self.samples())
        self.assertEqual({s["status"] for s in self.samples()}, {"ok"})

    def test_it_chooses_how_many_rounds_of_pairs_there_are(self):
        # Each direction takes a tenth of a second whatever the machine: 11 rounds five times do not fit.
        step = {"probe": "mpi_pairs", "params": {"bytes": 1 << 30, "max_s": 0.1}, "pairs": "all_pairs"}
        command = [FLEETBENCH, *self.suite({**TINY, "passes": 5, "steps": [step]}), "--out", str(self.run_directory)]
        result = execute(mpirun(12) + [*command, "--budget", "12s"])
        self.assertIn(result.code, (0, FAIL, INCONCLUSIVE), result.err)
        reasons = [item["reason"] for item in self.report(self.run_directory)["not_measured"]]
        [chosen] = [reason for reason in reasons if "rounds of pairs fit the time of the run" in reason]
        rounds = int(chosen.split()[0])
        self.assertLess(rounds, 11, result.err)
        self.assertGreaterEqual(rounds, 3)
        links = {}
        for sample in self.samples():
            if "peer" in sample:
                links.setdefault(sample["pass"], set()).add(frozenset((sample["node"], sample["peer"])))
        self.assertEqual(len(links[0]), 6 * rounds)
        for of_pass in links.values():
            self.assertLessEqual(of_pass, links[0])
        self.assertIn(f"{100 * rounds / 11:.0f} % of all links", chosen)

    def test_who_had_not_answered_at_its_end_is_listed(self):
        step = {"probe": "command", "params": {"argv": ["sleep", "100"], "metrics": [{"name": "a_s"}]}, "limit_s": 200}
        command = [FLEETBENCH, *self.suite({**TINY, "passes": 1, "steps": [step]}), "--out", str(self.run_directory)]
        result = execute([*command, "--budget", "10s"])
        self.assertEqual(result.code, INCONCLUSIVE, result.err)
        reasons = [item["reason"] for item in self.report(self.run_directory)["not_measured"]]
        cut = [reason for reason in reasons if reason.startswith("cut short in pass 1 of 1 (measure), before ")]
        self.assertEqual(len(cut), 1, reasons)

    def test_a_root_that_stands_still_to_its_end_is_named(self):
        started = self.start(self.gate(mpirun(3), "--budget", "20s", content={**LONG, "passes": 50}))
        started.wait_for(self.measuring())
        os.kill(self.rank(started, 0), signal.SIGSTOP)
        report = self.finish(started, 30)
        self.assertEqual(started.code, FAIL, started.err)
        [loss] = self.losses()
        self.assertEqual(loss["rank"], 0)
        self.assertIn("stood still for ", loss["reason"])
        self.assertEqual(len(report["fleet"]["lost"]), 1)

    def test_the_gate_keeps_it_whatever_happens(self):
        script = ["sh", "-c", "trap '' TERM; sleep 100", FLEETBENCH]
        start = time.monotonic()
        result = execute([FLEETBENCH, "gate", "--out", str(self.run_directory), "--budget", "10s", "--", *script])
        self.assertLess(time.monotonic() - start, 15)
        self.assertEqual(result.code, INCONCLUSIVE)


class Resume(GateTest):
    def test_only_what_is_missing_is_measured(self):
        started = self.start(mpirun(3) + [FLEETBENCH, *self.suite(LONG), "--out", str(self.run_directory)])
        started.wait_for(self.measuring(7))
        os.kill(self.rank(started, 0), signal.SIGKILL)
        started.finish(timeout=30)
        before = {(s["step"], s["pass"], s["node"]): s for s in self.samples()}
        result = execute(mpirun(3) + [FLEETBENCH, "resume", str(self.run_directory)])
        self.assertIn(result.code, (0, 2, 3), result.err)
        after = [(s["step"], s["pass"], s["node"]) for s in self.samples()]
        self.assertEqual(len(after), len(set(after)), "something was measured twice")
        self.assertEqual(len(after), 3 + 3 * 3)  # the inventory and three passes
        for key, sample in before.items():
            self.assertIn(sample, self.samples(), key)
        self.assert_follows_schemas(self.run_directory)
        self.assertFalse(self.report(self.run_directory).get("interrupted", False))

    def test_a_node_that_does_not_come_back_is_missing(self):
        started = self.start(mpirun(3) + [FLEETBENCH, *self.suite(LONG), "--out", str(self.run_directory)])
        started.wait_for(self.measuring(7))
        os.kill(self.rank(started, 0), signal.SIGKILL)
        started.finish(timeout=30)
        result = execute(mpirun(2) + [FLEETBENCH, "resume", str(self.run_directory)])
        self.assertEqual(result.code, FAIL, result.err)
        report = self.report(self.run_directory)
        self.assertEqual([f["direction"] for f in report["findings"]], ["missing"])

    def test_what_goes_on_elsewhere_is_left_alone(self):
        started = self.start(mpirun(2) + [FLEETBENCH, *self.suite(LONG), "--out", str(self.run_directory)])
        started.wait_for(self.measuring())
        result = execute(mpirun(2) + [FLEETBENCH, "resume", str(self.run_directory)])
        self.assertEqual(result.code, 64)
        self.assertIn("another fleetbench", result.err)
        started.finish()


if __name__ == "__main__":
    unittest.main(verbosity=2)
