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
            ("node,metric,value\n", "is no baseline"),
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
