"""Baselines: built from real runs, read by the commands that judge, refused when they are damaged."""
import json
import unittest

from fleetbench_process import FLEETBENCH, SCHEMA_CHECK, FleetbenchTest, execute, mpirun

# Prints figures that do not depend on how busy this machine is.
SCRIPT = "import json, os; print(json.dumps({'step_s': 1 + int(os.environ.get('FLEETBENCH_SLOWER', '0')) / 10}))"


def suite(slower=False):
    argv = ["python3", "-c", SCRIPT]
    if slower:
        argv = ["env", "FLEETBENCH_SLOWER=1", *argv]
    return {
        "schema": "fleetbench-scenario/1.0",
        "name": "steady",
        "passes": 2,
        "steps": [
            {"probe": "command", "params": {"argv": argv, "metrics": [{"name": "step_s"}]}},
            {"probe": "mpi_collectives", "params": {"end_bytes": 4096, "iterations": 5}},
        ],
    }


class Baselines(FleetbenchTest):
    def measure(self, name, content=None, *options):
        run = self.directory / name
        command = [FLEETBENCH, "--suite", self.scenario(content or suite()), "--out", str(run), "--nodes-by", "rank"]
        result = execute(mpirun(3) + command + list(options))
        self.assertIn(result.code, (0, 2, 3), result.err)
        return str(run)

    def build(self, *runs, options=()):
        return execute([FLEETBENCH, "baseline", "build", *runs, "-o", str(self.directory / "b.json"), *options])

    def baseline(self):
        return json.loads((self.directory / "b.json").read_text(encoding="utf-8"))

    def levels(self):
        return [value for subject in self.baseline()["subjects"] for _node, _device, value, _runs in subject["levels"]]

    def test_runs_become_a_baseline_that_every_command_reads(self):
        runs = [self.measure("one"), self.measure("two")]
        built = self.build(*runs)
        self.assertEqual(built.code, 0, built.err)
        self.assertIn("Baseline of 2 runs, 3 nodes, 1 metric, 3 levels of nodes and devices", built.out)
        self.assertEqual(built.err, "")
        file = str(self.directory / "b.json")
        checked = execute([SCHEMA_CHECK, "baseline", file])
        self.assertEqual(checked.code, 0, checked.out)

        baseline = self.baseline()
        ids = [json.loads((self.directory / name / "run.json").read_text())["run_id"] for name in ("one", "two")]
        self.assertEqual(baseline["runs"], ids)
        metric = baseline["metrics"][0]
        self.assertEqual((metric["metric"], metric["median"], metric["runs"]), ("command.step_s", 1, 2))
        self.assertRegex(metric["method"], r"^command/1-[0-9a-f]{8}-alone$")
        self.assertEqual(self.levels(), [1, 1, 1])
        self.assertIn("kernel.release", baseline["inventory"][metric["cohort"]])

        shown = execute([FLEETBENCH, "baseline", "show", file])
        self.assertEqual(shown.code, 0, shown.err)
        self.assertRegex(shown.out, r"command\.step_s +1\.00 s ")
        for given in (file, runs[1]):
            with self.subTest(given=given):
                analysed = execute([FLEETBENCH, "analyze", runs[0], "--baseline", given])
                self.assertIn(analysed.code, (0, 2, 3), analysed.err)
                self.assertIn("command.step_s", analysed.out)
        self.measure("three", None, "--baseline", file)
        self.assertEqual(sorted(path.name for path in self.directory.iterdir() if path.suffix == ".part"), [])

    def test_what_was_measured_otherwise_stands_apart(self):
        built = self.build(self.measure("one"), self.measure("two", {**suite(slower=True), "name": "other"}))
        self.assertEqual(built.code, 0, built.err)
        self.assertIn("warning: these runs are of different suites (other, steady)", built.err)
        metrics = self.baseline()["metrics"]
        self.assertEqual(sorted(metric["median"] for metric in metrics), [1, 1.1])
        self.assertEqual({metric["runs"] for metric in metrics}, {1})
        shown = execute([FLEETBENCH, "baseline", "show", str(self.directory / "b.json")])
        self.assertRegex(shown.out, r"command\.step_s \(command/1-[0-9a-f]{8}-alone\) +1\.10 s")

    def test_a_node_with_a_finding_is_left_out_and_named(self):
        script = "import json, os, sys; sys.exit('broken') if 'SICK' in os.environ else print(json.dumps({'step_s': 1}))"
        sick = suite()
        sick["steps"][0]["params"]["argv"] = ["python3", "-c", script]
        run = str(self.directory / "sick")
        command = [FLEETBENCH, "--suite", self.scenario(sick), "--out", run, "--nodes-by", "rank"]
        result = execute([*mpirun(2), *command, ":", "-np", "1", "-x", "SICK=1", *command])
        self.assertEqual(result.code, 2, result.err)
        built = self.build(run)
        self.assertEqual(built.code, 0, built.err)
        self.assertRegex(built.out, r"Left out: \S+2 in run \S+: missing in step \(confirmed\)")
        self.assertEqual(len(self.levels()), 2)

    def test_an_existing_file_is_kept_unless_force_is_given(self):
        run = self.measure("one")
        (self.directory / "b.json").write_text("mine")
        refused = self.build(run)
        self.assertEqual(refused.code, 64)
        self.assertIn("b.json: exists; give another name, or --force to replace it", refused.err)
        self.assertEqual((self.directory / "b.json").read_text(), "mine")
        self.assertEqual(self.build(run, options=["--force"]).code, 0)
        self.assertEqual(len(self.levels()), 3)

        twice = self.build(run, run, options=["--force"])
        self.assertEqual(twice.code, 64)
        self.assertIn("is given twice", twice.err)
        nowhere = execute([FLEETBENCH, "baseline", "build", run, "-o", str(self.directory / "no" / "b.json")])
        self.assertEqual(nowhere.code, 64)
        self.assertIn("choose a file in a folder that you may write", nowhere.err)

    def test_a_run_that_broke_off_is_used_with_a_warning(self):
        run = self.measure("one")
        journal = self.directory / "one" / "journal.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        samples = [number for number, line in enumerate(lines) if '"t":"sample"' in line]
        lines[samples[-1]] = lines[samples[-1]].replace('"pass":1', '"pass":7')
        journal.write_text("".join(lines[:-1]))
        built = self.build(run)
        self.assertEqual(built.code, 0, built.err)
        self.assertRegex(built.err, r"warning: \S+/one: 1 damaged record left out, the first: \S+journal.jsonl:\d+: ")
        self.assertRegex(built.err, r"warning: \S+/one: this run broke off")
        self.assertEqual(self.levels(), [1, 1, 1])

    def csv(self, name, slower=1.0, nodes=4):
        """Passes differ a little, and no two files do so in the same way."""
        lines = ["node,metric,value,unit,pass"]
        for node in range(nodes):
            for number in range(4):
                value = slower * (1 + 0.001 * ((7 * node + 3 * number + len(name)) % 5))
                lines.append(f"n{node},step_time,{value:.5f},s,{number}")
        return self.written(name, "\n".join(lines) + "\n")

    def written(self, name, text):
        (self.directory / name).write_text(text)
        return str(self.directory / name)

    def report(self, *arguments):
        analysed = execute([FLEETBENCH, "analyze", *arguments, "--json"])
        self.assertIn(analysed.code, (0, 2, 3), analysed.err)
        return json.loads(analysed.out)

    def test_samples_of_other_tools_are_a_past_as_well(self):
        files = [self.csv("first.csv"), self.csv("second_.csv")]
        built = self.build(*files)
        self.assertEqual(built.code, 0, built.err)
        self.assertIn("Baseline of 2 runs, 4 nodes, 1 metric, 4 levels of nodes and devices", built.out)
        ids = self.baseline()["runs"]
        for file, name in zip(files, ids):
            self.assertRegex(name, r"^imported-[0-9a-f]{8}-\d+$")
            self.assertIn(f"Run {name} is {file}", built.out)
        self.assertEqual(self.baseline()["metrics"][0]["method"], "")
        checked = execute([SCHEMA_CHECK, "baseline", str(self.directory / "b.json")])
        self.assertEqual(checked.code, 0, checked.out)
        renamed = self.written("renamed", (self.directory / "first.csv").read_text())
        self.assertEqual(self.build(renamed, options=["--force"]).code, 0)
        self.assertEqual(self.baseline()["runs"], ids[:1])

    def test_a_fleet_slower_than_its_csv_is_told(self):
        past, now = self.csv("past.csv"), self.csv("now.csv", slower=1.2)
        self.assertEqual(self.build(past).code, 0)
        alone = self.report(now)
        self.assertEqual(alone["findings"], [])
        for given in (past, str(self.directory / "b.json")):
            with self.subTest(given=given):
                findings = self.report(now, "--baseline", given)["findings"]
                self.assertEqual([finding["subject"]["kind"] for finding in findings], ["fleet"])
                self.assertAlmostEqual(findings[0]["slowdown_pct"], 20, delta=1)

    def test_superbench_results_are_a_past(self):
        def results(name, bandwidth):
            lines = [json.dumps({"node": f"n{node}", "mem-bw/h2d_bw:0": bandwidth + node / 100}) for node in range(5)]
            return self.written(name, "\n".join(lines) + "\n")

        past, now = results("past.jsonl", 26), results("now.jsonl", 20)
        self.assertEqual(self.build(past).code, 0)
        for given in (past, str(self.directory / "b.json")):
            kinds = [finding["subject"]["kind"] for finding in self.report(now, "--baseline", given)["findings"]]
            self.assertEqual(kinds, ["fleet"])

    def test_faults_of_samples_are_named(self):
        good = self.csv("good.csv")
        damaged = self.written("damaged.csv", (self.directory / "good.csv").read_text() + "n0,step_time,fast,s,9\n")
        built = self.build(damaged)
        self.assertEqual(built.code, 0, built.err)
        self.assertRegex(built.err, r"warning: \S+damaged\.csv:18: step_time on n0: value \"fast\"")
        copy = self.written("copy.csv", (self.directory / "good.csv").read_text())
        cases = [
            ([good, copy], f"is given twice, as {good} and as {copy}"),
            ([self.written("empty.csv", "")], "empty.csv: is empty; give a run directory, a CSV"),
            ([self.written("bare.csv", "node,metric\nn0,x\n")], "bare.csv:1: column value is missing"),
            ([str(self.directory / "b.json")], "b.json: is a baseline, which holds no samples; it is what --baseline"),
            ([str(self.directory / "none")], "none: there is no such file or folder"),
        ]
        for files, message in cases:
            with self.subTest(message=message):
                refused = self.build(*files, options=["--force"])
                self.assertEqual(refused.code, 64, refused.err)
                self.assertIn(message, refused.err)

    def test_a_run_says_that_samples_of_other_tools_are_no_past_of_its_own(self):
        self.measure("one", None, "--baseline", self.csv("past.csv"))
        command = [FLEETBENCH, "--suite", self.scenario(suite()), "--out", str(self.directory / "two")]
        result = execute([*command, "--baseline", str(self.directory / "past.csv")])
        self.assertIn(result.code, (0, 2, 3), result.err)
        self.assertIn("past.csv: holds only what other tools measured", result.err)

    def test_damaged_baselines_are_refused_by_name_and_key(self):
        run = self.measure("one")
        self.assertEqual(self.build(run).code, 0)
        whole = self.baseline()
        file = self.directory / "damaged.json"
        work = self.directory / "work"
        work.mkdir()
        text = json.dumps(whole)
        cases = [
            (text[: len(text) // 2], "damaged.json:1:"),
            ("", "is no baseline"),
            ("node,metric,value\n", "damaged.json: there is a header and nothing else; no sample could be read"),
            ("once upon a time\n", "damaged.json is no baseline"),
            (json.dumps({**whole, "schema": "fleetbench-report/1.2"}), "damaged.json: schema is not"),
            (json.dumps({key: whole[key] for key in whole if key != "subjects"}), "damaged.json: subjects is missing"),
            (text.replace(", 1.0, 1]", ", 0.0, 1]"), "damaged.json: subjects[0].levels[0] is not [node, device, value over 0"),
        ]
        for content, message in cases:
            with self.subTest(message=message):
                file.write_text(content)
                for command in (
                    [FLEETBENCH, "analyze", run],
                    [FLEETBENCH, "--suite", self.scenario(suite())],
                ):
                    result = execute([*command, "--baseline", str(file)], cwd=work)
                    self.assertEqual(result.code, 64, result.out + result.err)
                    self.assertIn(message, result.err)
                    self.assertEqual(list(work.iterdir()), [])
        under_mpi = execute(mpirun(3) + [FLEETBENCH, "--suite", "quick", "--baseline", str(file)], cwd=work)
        self.assertEqual(under_mpi.code, 64, under_mpi.err)
        self.assertEqual(under_mpi.err.count("subjects[0].levels[0]"), 1)
        self.assertEqual(list(work.iterdir()), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
