"""Whole runs on this machine: ranks are nodes, so figures mean little and files mean all."""
import json
import os
import signal
import unittest
from collections import Counter
from pathlib import Path

from fleetbench_process import (
    FLEETBENCH,
    GROUPED,
    LONG,
    TIME_SCALE,
    TINY,
    WRONG_SUM,
    FleetbenchTest,
    execute,
    mpirun,
)

VERDICT_CODES = {"PASS": {0}, "WARN": {0}, "FAIL": {2}, "INCONCLUSIVE": {3}}


class WholeRun(FleetbenchTest):
    # Its figures mean nothing, and whoever they make a suspect is not to be measured again.
    def run_tiny(self, ranks, *options, content=TINY):
        run = self.directory / "run"
        command = [FLEETBENCH, "--suite", self.scenario(content), "--out", str(run), "--no-confirm", *options]
        return run, execute((mpirun(ranks) if ranks else []) + command)

    def test_ranks_as_nodes_leave_a_whole_run_directory(self):
        run, result = self.run_tiny(4, "--nodes-by", "rank", "--seed", "7")
        report = self.report(run)
        self.assertIn(result.code, VERDICT_CODES[report["verdict"]], result.err)
        self.assertEqual((run / "verdict").read_text().strip(), report["verdict"])
        self.assert_follows_schemas(run)
        self.assertEqual(report["fleet"]["nodes"], 4)
        self.assertIn("4 ranks on 4 nodes", result.err)
        self.assertIn(report["verdict"], result.out.splitlines()[0])
        metrics = {metric["metric"] for metric in report["metrics"]}
        self.assertLessEqual({"cpu_gemm.fp32", "cpu_gemm.fp64", "mpi_pairs.latency"}, metrics)
        header = json.loads((run / "run.json").read_text())
        self.assertEqual(header["seed"], 7)
        for node in header["nodes"]:
            self.assertGreater(node["inventory"]["memory"]["total_bytes"], 0)

    def test_every_slot_is_in_the_journal_with_who_and_when(self):
        run, _ = self.run_tiny(3, "--nodes-by", "rank")
        records = self.journal(run)
        samples = [record for record in records if record.get("t") == "sample"]
        steps = {record["step"]: record for record in records if record.get("t") == "step"}
        by_probe = {}
        for sample in samples:
            self.assertEqual(sample["status"], "ok", sample)
            by_probe.setdefault(steps[sample["step"]]["probe"], []).append(sample)
        self.assertEqual(len(by_probe["inventory"]), 3)
        self.assertEqual(len(by_probe["cpu_gemm"]), 3 * 3)
        self.assertEqual(len(by_probe["mpi_pairs"]), 3 * 3 * 2)
        self.assertEqual(len(by_probe["mpi_collectives"]), 3 * 3)
        links = {(sample["node"], sample["peer"]) for sample in by_probe["mpi_pairs"]}
        self.assertEqual(links, {(a, b) for a in range(3) for b in range(3) if a != b})
        for probe in ("mpi_pairs", "mpi_collectives"):
            for sample in by_probe[probe]:
                self.assertIn("tcp_retransmits", sample["detail"]["evidence"]["rises"])
        self.assertEqual(records[-1]["t"], "end")

    def test_groups_are_reshuffled_recorded_and_printed_as_nccl_tests_does(self):
        run, result = self.run_tiny(4, "--nodes-by", "rank", "--seed", "3", content=GROUPED)
        self.assert_follows_schemas(run)
        slots = {}
        for sample in self.journal(run):
            if sample.get("t") == "sample" and sample["step"] == 2:
                self.assertEqual(sample["status"], "ok", sample)
                self.assertIn(sample["node"], sample["group"])
                slots.setdefault((sample["pass"], sample["slot"]), set()).add(tuple(sample["group"]))
            elif sample.get("t") == "sample":
                self.assertNotIn("group", sample)
        self.assertEqual(len(slots), 2 * 3)
        for groups in slots.values():
            self.assertEqual(sorted(node for group in groups for node in group), [0, 1, 2, 3])
        in_pass = [{frozenset(groups) for (of, _), groups in slots.items() if of == number} for number in (0, 1)]
        self.assertEqual(in_pass[0], in_pass[1])
        before = {path.name: path.read_bytes() for path in run.iterdir()}
        shown = execute([FLEETBENCH, "report", str(run), "--collectives"])
        self.assertEqual(shown.code, 0, shown.err)
        rows = [line.split() for line in shown.out.splitlines() if line and not line.startswith("#")]
        self.assertEqual({len(row) for row in rows}, {13})
        self.assertEqual({row[8] for row in rows}, {"0"})
        tables = shown.out.count("# Avg bus bandwidth    : ")
        self.assertEqual(tables, 5 + 5 * len(set().union(*slots.values())))
        self.assertEqual({path.name: path.read_bytes() for path in run.iterdir()}, before)

    def test_wrong_elements_are_counted_and_no_slow_value(self):
        run = self.directory / "run"
        options = ["--suite", self.scenario(GROUPED), "--out", str(run), "--nodes-by", "rank", "--only", "mpi_*"]
        command = mpirun(4) + ["-x", "LD_PRELOAD=" + WRONG_SUM, FLEETBENCH, *options, "--skip", "groups"]
        # It defines MPI_Allreduce alone, which no sanitizer intercepts: that it comes first does no harm.
        env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
        result = execute(command, env=env)
        report = self.report(run)
        self.assertEqual(report["verdict"], "FAIL", result.err)
        self.assertEqual([finding["direction"] for finding in report["findings"]], ["wrong"])
        self.assertIn("element 0 on rank 1 is", report["findings"][0]["evidence"][0]["text"])
        self.assert_follows_schemas(run)
        shown = execute([FLEETBENCH, "report", str(run), "--collectives"])
        wrong = [line.split()[8] for line in shown.out.splitlines() if line.split()[3:4] == ["sum"]]
        self.assertEqual(wrong[:4], ["1"] * 4, "all_reduce")
        self.assertEqual(set(wrong[4:]), {"0"}, "reduce_scatter")
        self.assertIn("# Out of bounds values : 4 FAILED", shown.out)
        for sample in self.journal(run):
            if sample.get("t") == "sample" and sample["status"] == "wrong":
                self.assertIn("rises", sample["detail"]["evidence"])

    def test_three_nodes_are_no_groups_and_that_is_said(self):
        run, _ = self.run_tiny(3, "--nodes-by", "rank", content=GROUPED)
        self.assertIn(
            {"what": "groups", "reason": "3 nodes cannot be split into groups, it takes 4"},
            self.report(run)["not_measured"],
        )

    def test_report_says_what_the_run_said_and_writes_for_prometheus(self):
        run, result = self.run_tiny(3, "--nodes-by", "rank")
        again = execute([FLEETBENCH, "report", str(run), "--json"])
        self.assertEqual(json.loads(again.out), self.report(run))
        file = self.directory / "textfile" / "fleetbench.prom"
        file.parent.mkdir()
        shown = execute([FLEETBENCH, "report", str(run), "--prometheus", str(file)])
        self.assertEqual(shown.out, result.out)
        self.assertEqual(shown.code, result.code)
        self.assertEqual(file.read_text(), (run / "fleetbench.prom").read_text())
        self.assertEqual(list(file.parent.iterdir()), [file])
        pairs = execute([FLEETBENCH, "report", str(run), "--pairs"])
        self.assertEqual(pairs.code, 0, pairs.err)
        for metric in ("bandwidth", "latency"):
            self.assertIn(f"mpi_pairs.{metric}: speed in % of the median pair, ", pairs.out)

    def test_json_prints_the_report_alone(self):
        run, result = self.run_tiny(3, "--nodes-by", "rank", "--json")
        self.assertEqual(json.loads(result.out), self.report(run))

    def test_one_host_has_nothing_to_compare_with(self):
        run, result = self.run_tiny(4)
        report = self.report(run)
        self.assertEqual(report["verdict"], "INCONCLUSIVE")
        self.assertEqual(result.code, 3)
        self.assertEqual(report["fleet"]["nodes"], 1)
        self.assertEqual(report["findings"], [])

    def test_without_mpirun_it_is_one_node(self):
        run, result = self.run_tiny(0)
        self.assertEqual(result.code, 3, result.err)
        self.assertEqual(self.report(run)["verdict"], "INCONCLUSIVE")
        self.assert_follows_schemas(run)

    def test_two_nodes_blame_nobody(self):
        run, _ = self.run_tiny(2, "--nodes-by", "rank")
        slow = [finding for finding in self.report(run)["findings"] if finding["direction"] == "slow"]
        self.assertEqual(slow, [])

    def ramp(self, **keys):
        params = {"profiles": ["small_files"], "small_files": 200, "repetitions": 1, "shared": True}
        step = {"probe": "storage", "schedule": "ramp", "params": params, **keys}
        suite = {**TINY, "passes": 1, "steps": [step]}
        run = self.directory / "run"
        command = [FLEETBENCH, "--suite", self.scenario(suite), "--out", str(run), "--nodes-by", "rank", "--no-confirm"]
        execute(mpirun(4) + command)
        records = self.journal(run)
        steps = {r["step"]: r["id"] for r in records if r["t"] == "step"}
        counts = Counter(steps[r["step"]] for r in records if r["t"] == "sample")
        omitted = {r["step"]: r["reason"] for r in records if r["t"] == "omission"}
        self.assert_follows_schemas(run)
        return counts, omitted, self.report(run)

    def test_what_all_nodes_share_is_loaded_step_by_step(self):
        counts, omitted, report = self.ramp()
        self.assertEqual(counts["storage@1"], 1)
        # On a busy machine it may stop early; then it says so.
        self.assertTrue(counts["storage@2"] == 2 or "do no harm" in omitted["storage@2"])
        self.assertTrue(counts["storage"] == 4 or "do no harm" in omitted["storage"], omitted)
        silent = [item for item in report["not_measured"] if item["reason"] == "no sample came back"]
        self.assertEqual([item["what"] for item in silent if "@" in item["what"]], [])

    def test_what_all_nodes_share_has_a_budget(self):
        counts, omitted, _ = self.ramp(operations=1500)  # 1000 a node: 200 files, five kinds
        self.assertEqual((counts["storage@1"], counts["storage@2"], counts["storage"]), (1, 0, 0))
        self.assertIn("budget of 1500 operations", omitted["storage"])

    def test_analyze_says_what_the_run_said(self):
        run, _ = self.run_tiny(3, "--nodes-by", "rank")
        again = execute([FLEETBENCH, "analyze", str(run), "--json"])
        self.assertEqual(json.loads(again.out), self.report(run))

    def test_only_skip_and_passes_choose(self):
        run, _ = self.run_tiny(3, "--nodes-by", "rank", "--only", "mpi_*", "--skip", "*_collectives", "--passes", "1")
        probes = [record["probe"] for record in self.journal(run) if record.get("t") == "step"]
        self.assertEqual(probes, ["inventory", "mpi_pairs"])
        self.assertEqual(len([r for r in self.journal(run) if r.get("t") == "sample"]), 3 + 6)

    def test_the_default_folder_is_new_each_time(self):
        scenario = self.scenario(TINY)
        for _ in range(2):
            execute([FLEETBENCH, "--suite", scenario, "--passes", "1"], cwd=self.directory)
        self.assertEqual(len(list((self.directory / "fleetbench-runs").iterdir())), 2)


class Disturbed(FleetbenchTest):
    """Somebody drops out in the middle: it is named, and the run ends by itself."""

    def start_long(self, ranks, *options):
        run = self.directory / "run"
        command = [FLEETBENCH, "--suite", self.scenario(LONG), "--out", str(run), "--nodes-by", "rank"]
        command += ["--no-confirm", *options]
        return run, self.start(mpirun(ranks) + command)

    def missing(self, report):
        return {f["subject"].get("node") for f in report["findings"] if f["direction"] == "missing"}

    def test_a_killed_worker_is_named_and_replaced(self):
        run, started = self.start_long(3, "--schedule", "together")
        workers = started.wait_for(lambda: len(started.workers()) == 3 and self.measuring(run) and started.workers())
        ranks = started.named("fleetbench")
        victim, rank_pid = sorted(workers.items())[0]
        os.kill(victim, signal.SIGKILL)
        started.finish()
        report = self.report(run)
        self.assertEqual(report["verdict"], "FAIL", started.err)
        self.assertEqual(started.code, 2)
        node = self.node_of(run, rank_pid, ranks)
        self.assertEqual(self.missing(report), {node})
        samples = [s for s in self.journal(run) if s.get("t") == "sample" and s["status"] != "ok"]
        self.assertEqual(len(samples), 1)
        self.assertIn("signal 9", samples[0]["reason"])
        self.assertEqual(len([s for s in self.journal(run) if s.get("t") == "sample"]), 3 + 3 * 3)

    def measuring(self, run):
        """The inventory is done and the first computation has begun."""
        try:
            return sum(record.get("t") == "sample" for record in self.journal(run)) >= 3
        except (FileNotFoundError, json.JSONDecodeError):
            return False

    def node_of(self, run, rank_pid, rank_pids):
        """Local ranks are started in order, so pids are in the order of ranks."""
        names = [node["name"] for node in json.loads((run / "run.json").read_text())["nodes"]]
        return names[rank_pids.index(rank_pid)]

    def test_a_frozen_rank_is_lost_and_the_others_are_measured_on(self):
        run, started = self.start_long(4, "--schedule", "together")
        started.wait_for(lambda: len(started.workers()) == 4 and self.measuring(run))
        ranks = started.named("fleetbench")
        victim = ranks[2]
        os.kill(victim, signal.SIGSTOP)
        started.finish()
        report = self.report(run)
        node = self.node_of(run, victim, ranks)
        self.assertEqual(report["fleet"]["lost"], [node])
        self.assertEqual(self.missing(report), {node})
        self.assertEqual(report["verdict"], "FAIL")
        self.assertEqual(started.code, 2, started.err)
        done = [s for s in self.journal(run) if s.get("t") == "sample" and s["step"] == 1 and s["status"] == "ok"]
        self.assertGreaterEqual(len(done), 3 * 3)
        self.assert_follows_schemas(run)

    def test_a_worker_that_hangs_is_a_timeout_and_is_replaced(self):
        run, started = self.start_long(3, "--schedule", "together")
        workers = started.wait_for(lambda: len(started.workers()) == 3 and self.measuring(run) and started.workers())
        ranks = started.named("fleetbench")
        victim, rank_pid = sorted(workers.items())[1]
        os.kill(victim, signal.SIGSTOP)
        started.finish()
        report = self.report(run)
        self.assertEqual(self.missing(report), {self.node_of(run, rank_pid, ranks)}, started.err)
        self.assertEqual(report["fleet"]["lost"], [])
        late = [s for s in self.journal(run) if s.get("t") == "sample" and s["status"] == "timeout"]
        self.assertEqual(len(late), 1)
        self.assertIn("no answer within", late[0]["reason"])
        self.assertEqual(len([s for s in self.journal(run) if s.get("t") == "sample"]), 3 + 3 * 3)

    def test_sigterm_leaves_a_readable_run(self):
        run, started = self.start_long(2, "--schedule", "together")
        started.wait_for(lambda: self.measuring(run))
        started.process.terminate()
        started.finish()
        self.assertEqual((run / "verdict").read_text().strip(), "INCONCLUSIVE")
        again = execute([FLEETBENCH, "analyze", str(run), "--json"])
        self.assertEqual(again.code, 3)
        self.assertEqual(json.loads(again.out)["verdict"], "INCONCLUSIVE")
        self.assertEqual(execute([FLEETBENCH, "verdict", str(run)]).code, 3)

    def test_workers_die_with_their_rank(self):
        _, started = self.start_long(2)
        workers = started.wait_for(lambda: started.workers())
        started.process.kill()
        for rank in started.named("fleetbench"):
            os.kill(rank, signal.SIGKILL)
        for worker in workers:
            self.assertTrue(self.gone(worker), "a worker outlives its rank")

    def gone(self, pid):
        import time

        for _ in range(250 * TIME_SCALE):
            if not Path(f"/proc/{pid}").exists():
                return True
            time.sleep(0.02)
        return False


if __name__ == "__main__":
    unittest.main(verbosity=2)
