"""What a person can get wrong: a message that names it, exit 64, and nothing written."""
import json
import os
import unittest
from pathlib import Path

from fleetbench_process import FLEETBENCH, TINY, FleetbenchTest, execute, mpirun


def step(**keys):
    return {**TINY, "steps": [{"probe": "cpu_gemm", **keys}]}


OPTIONS = [
    (["--suite", "qick"], '--suite qick: is neither a suite (full, gpu, quick) nor a file'),
    ([], "--suite is missing"),
    (["--suite"], "suite"),
    (["--suite", "quick", "--pases", "3"], "pases"),
    (["--suite", "quick", "--passes", "0"], "--passes 0: is not a whole number from 1 to 100000"),
    (["--suite", "quick", "--passes", "many"], "--passes many: is not a whole number"),
    (["--suite", "quick", "--passes", "1000000000"], "--passes 1000000000: is not a whole number from 1 to 100000"),
    (["--suite", "quick", "--passes", "99999999999999999999"], "is not a whole number from 1 to 100000"),
    (["--suite", "quick", "--passes", "-1"], "--passes -1: is not a whole number"),
    (["--suite", "quick", "--passes", "1e3"], "--passes 1e3: is not a whole number"),
    (["--suite", "quick", "--seed", "-1"], "--seed -1: is not a whole number from 0 to 4294967295"),
    (["--suite", "quick", "--confirm-limit", "1e999"], "--confirm-limit 1e999: is not a whole number from 1 to 1000000"),
    (["--suite", "quick", "--min-effect", "host=nan"], "--min-effect host=nan: is not LAYER=PERCENT"),
    (["--suite", "quick", "--min-effect", "host=inf"], "--min-effect host=inf: is not LAYER=PERCENT"),
    (["--suite", "quick", "--min-effect", "host=1e999"], "--min-effect host=1e999: is not LAYER=PERCENT"),
    (["--suite", "quick", "--min-effect", "all=1e9"], "--min-effect all=1e9: is not LAYER=PERCENT"),
    (["--suite", "/dev/zero"], "--suite /dev/zero: is neither a suite"),
    (["--suite", "quick", "--baseline", "/dev/zero"], "/dev/zero: is a device; give a file"),
    (["--suite", "x\x1b[2J\u202e\u009b"], "--suite x\\x1b[2J\\xe2\\x80\\xae\\xc2\\x9b: is neither"),
    (["--suite", "quick", "--schedule", "toghether"], "--schedule toghether: is neither alone nor together"),
    (["--suite", "quick", "--schedule", "alone", "--schedule", "together"], "--schedule is given twice"),
    (["--suite", "quick", "--nodes-by", "rack"], "--nodes-by rack: is neither host nor rank"),
    (["--suite", "quick", "--only", "tpu_*"], "--only tpu_*: matches no step of suite quick, which has"),
    (["--suite", "quick", "--skip", "cpu"], "--skip cpu: matches no step"),
    (["--suite", "quick", "--only", "cpu_gemm", "--skip", "cpu_gemm"], "--only and --skip leave no step"),
    (["--suite", "quick", "--min-effect", "cpu=3"], 'layer "cpu" is none of host'),
    (["--suite", "quick", "--min-effect", "host=-1"], "--min-effect host=-1: is not LAYER=PERCENT"),
    (["--suite", "quick", "--seed", "1.5"], "--seed 1.5: is not a whole number"),
    (["--suite", "quick", "--scratch", "here"], "--scratch here: nodes need not share a working folder"),
    (["--suite", "quick", "--baseline", "/nowhere"], "/nowhere: cannot read"),
    (["--suite", "quick", "--baseline="], ": cannot read"),
    (["--suite", "quick", "--baseline", __file__], "is no baseline; give a file that `fleetbench baseline build` wrote"),
    (["--suite", "quick", "--baseline", str(Path(__file__).parent)], "is not a run directory: it has no run.json"),
    (["--suite", "quick", "extra"], '"extra" is not understood'),
    (["--suite", "quick", "--budget", "soon"], "--budget soon: is not a time of at least 5 s, as 90s, 10m or 2h"),
    (["--suite", "quick", "--budget", "1s"], "--budget 1s: is not a time of at least 5 s"),
    (["--suite", "quick", "--budget", "1e999"], "--budget 1e999: is not a time"),
    (["--suite", "quick", "--budget", "nan"], "--budget nan: is not a time"),
    (["--suite", "quick", "--launch-limit", "-3m"], "--launch-limit -3m: is not a time of at least 1 s"),
    (["--suite", "quick", "--under-gate"], "--under-gate needs the folder of the run"),
]

SCENARIOS = [
    (step(probe="gpu_gem"), 'step "gpu_gem": "gpu_gem" is no probe; there are inventory, cpu_gemm'),
    (step(params={"size": 3}), 'step "cpu_gemm": params: unknown key "size"; allowed are n, precisions, seconds'),
    (step(params={"n": -1}), 'step "cpu_gemm": params.n: -1 is out of range: at least 0 and at most 16384'),
    (step(params={"n": "big"}), 'params.n: "big" is not of type integer'),
    (step(params={"seconds": 0}), "params.seconds: 0 is out of range"),
    (step(params={"precisions": ["fp8"]}), 'params.precisions[0]: "fp8" is none of fp32, fp64'),
    (step(params={"precisions": []}), "params.precisions: has 0 items"),
    (step(schedule="toghether"), 'steps[0].schedule: "toghether" is none of together, alone, both, ramp'),
    ({**TINY, "steps": [{"probe": "mpi_pairs", "schedule": "ramp"}]}, '"ramp" is for probes of a node, and mpi_pairs'),
    (
        {**TINY, "steps": [{"probe": "storage", "params": {"shared": True}}]},
        'step "storage": params.shared: what all nodes share is not loaded by all of them at once: say "schedule": "ramp"',
    ),
    (step(operations=5), 'steps[0].operations: has no meaning without "schedule": "ramp"'),
    (step(groups={"size": 8}), 'step "cpu_gemm": groups: has no meaning for cpu_gemm, which measures each node by itself'),
    (step(devices="one"), 'step "cpu_gemm": devices: has no meaning for cpu_gemm, which measures no GPUs; leave it out'),
    (step(groups={"size": 1}), "steps[0].groups.size: 1 is out of range: at least 2 and at most 4096"),
    (step(groups=[8]), "steps[0].groups: [8] is not of type object"),
    (
        step(probe="mpi_collectives", params={"collectives": ["all_red"]}),
        'params.collectives[0]: "all_red" is none of all_reduce, all_gather, reduce_scatter, all_to_all, broadcast',
    ),
    (step(probe="mpi_collectives", params={"collectives": []}), "params.collectives: has 0 items; allowed are 1 to 5"),
    (
        step(probe="mpi_collectives", params={"collectives": ["broadcast", "broadcast"]}),
        'params.collectives: holds "broadcast" twice',
    ),
    (step(limit_s="long"), 'steps[0].limit_s: "long" is not of type number'),
    (step(passes=0), "steps[0].passes: 0 is out of range"),
    ({**TINY, "passes": -3}, "passes: -3 is out of range"),
    ({**TINY, "steps": []}, "steps: has 0 items"),
    ({**TINY, "name": "a b"}, "name: "),
    ({**TINY, "colour": "red"}, 'unknown key "colour"'),
    (step(id="a\x1b[2J\u202e"), '"a\\u001b[2J\\xe2\\x80\\xae" does not match'),
    ({**TINY, "passes": 10**9}, "passes: 1000000000 is out of range: at least 1 and at most 100000"),
    (step(params={"seconds": 1e300}), "params.seconds: 1e+300 is out of range"),
    (step(params={"precisions": ["fp32"] * 100000}), "steps[0].params.precisions: has 100000 items; at most 4096"),
    ('{"passes": 1e999}', "number overflow"),
    ('{"passes": NaN}', "this is not JSON"),
    ("[" * 100000, "nested more than 100 deep"),
    (" " * 2**20 + "{}", "has more than 1048576 bytes, and no more are read"),
    ("{", "this is not JSON"),
    ("\x00\xff", "this is not JSON"),
]

SIMULATIONS = [
    ([], "say where the samples go"),
    (["-o", "/nowhere/fleet.csv"], "--output /nowhere/fleet.csv: "),
    (["-o", "a", "--nodes", "0"], "--nodes 0: is not a whole number from 1"),
    (["-o", "a", "--nodes", "100000", "--metrics", "10000"], "give at most 200000000 values in all"),
    (["-o", "a", "--nodes", "1000000000"], "--nodes 1000000000: is not a whole number from 1 to 100000"),
    (["-o", "a", "--passes", "1000000000"], "--passes 1000000000: is not a whole number from 1 to 1000"),
    (["-o", "a", "--spread", "1e999"], "--spread 1e999: is not a number"),
    (["-o", "a", "--effect", "-inf", "--fault", "layer"], "--effect -inf: is not a number"),
    (["-o", "a", "--spread", "1,x"], "--spread x: is not a number"),
    (["-o", "a", "--spread", "0"], "spread 0: give over 0 to 100 %"),
    (["-o", "a", "--noise", "3"], "--noise 3: is not LOW,HIGH"),
    (["-o", "a", "--noise", "3,1"], "noise 1: give an upper end that is not under the lower one"),
    (["-o", "a", "--correlation", "2"], "correlation 2: give 0 to 1"),
    (["-o", "a", "--tails", "t5"], 'tails "t5": say one of normal, t4, bimodal'),
    (["-o", "a", "--fault", "disc"], 'fault "disc": say one of none, layer'),
    (["-o", "a", "--fault", "device"], "fault device: give devices too"),
    (["-o", "a", "--effect", "3"], "--effect: has no meaning without --fault"),
    (["-o", "a", "--fault", "layer", "--effect", "nan"], "--effect nan: is not a number"),
    (["-o", "a", "--fault", "layer", "--faulty", "33"], "--faulty 33: is not a whole number from 1 to 32"),
    (["-o", "a", "--fault", "layer", "--faulty", "0%"], "--faulty 0%: is not over 0 % to 100 %"),
    (["-o", "a", "--nuisance", "rain"], 'nuisance "rain": say one of none, one-pass'),
    (["-o", "a", "--seed", "-1"], "--seed -1: is not a whole number"),
    (["-o", "a", "b"], '"b" is not understood'),
]


class BadInput(FleetbenchTest):
    def refused(self, command, message):
        work = self.directory / "work"
        work.mkdir(exist_ok=True)
        result = execute(command, cwd=work)
        self.assertEqual(result.code, 64, result.out + result.err)
        self.assertIn(message, result.err)
        self.assertEqual(result.out, "")
        self.assertEqual(list(work.iterdir()), [], "something was written")
        return result

    def test_options(self):
        for options, message in OPTIONS:
            with self.subTest(options=options):
                self.refused([FLEETBENCH, "run", *options], message)

    def test_scenarios(self):
        for content, message in SCENARIOS:
            with self.subTest(message=message):
                self.refused([FLEETBENCH, "--suite", self.scenario(content)], message)

    def test_simulations(self):
        for options, message in SIMULATIONS:
            with self.subTest(options=options):
                self.refused([FLEETBENCH, "simulate", *options], message)

    def test_commands(self):
        for command, message in [
            (["measure"], '"measure" is no command'),
            (["verdict"], "give one run directory"),
            (["verdict", "/nowhere"], "/nowhere is not a folder"),
            (["analyze"], "give a run directory or files"),
            (["report"], "give one run directory"),
            (["report", str(self.directory)], "is not a run directory"),
            (["report", "a", "--json", "--collectives"], "leave one of them out"),
            (["report", "a", "--collectives", "--pairs"], "--collectives and --pairs print different things"),
            (["report", "a", "--html"], "html"),
            (["analyze", str(self.directory)], "is not a run directory"),
            (["baseline"], "say what to do: fleetbench baseline build RUN_DIR|FILE... -o FILE, or show FILE"),
            (["baseline", "make"], 'baseline "make": is neither build nor show'),
            (["baseline", "build", "-o", "b.json"], "give healthy runs, directories or files of samples"),
            (["baseline", "build", "/nowhere"], "-o is missing"),
            (["baseline", "build", "/nowhere", "-o", "b.json"], "/nowhere: there is no such file or folder"),
            (["baseline", "build", "/nowhere", "-o", str(self.directory)], "is a folder; give the name of a file"),
            (["baseline", "show"], "give one file: fleetbench baseline show FILE"),
            (["baseline", "show", "/nowhere"], "/nowhere: cannot read"),
            (["analyze", "a", "b"], "a: there is no such file or folder"),
            (["list", "nodes"], 'list "nodes"'),
            (["doctor", "--hostfile", "/nowhere"], "--hostfile /nowhere: cannot be read"),
        ]:
            with self.subTest(command=command):
                self.refused([FLEETBENCH, *command], message)

    def test_an_output_folder_that_cannot_be_used(self):
        scenario = self.scenario(TINY)
        occupied = self.directory / "occupied"
        occupied.mkdir()
        (occupied / "run.json").write_text("{}")
        foreign = self.directory / "foreign"
        foreign.mkdir()
        (foreign / "thesis.tex").write_text("")
        for out, message in [
            (occupied, "holds a run already"),
            (foreign, "is not empty (it holds thesis.tex)"),
            (foreign / "thesis.tex", "a file of this name exists"),
            ("/proc/fleetbench", "cannot create this folder"),
        ]:
            with self.subTest(out=str(out)):
                self.refused([FLEETBENCH, "--suite", scenario, "--out", str(out)], message)
        self.assertEqual([path.name for path in foreign.iterdir()], ["thesis.tex"])
        self.assertEqual([path.name for path in occupied.iterdir()], ["run.json"])

    def test_under_mpirun_it_is_said_once_and_ends_with_64(self):
        result = execute(mpirun(3) + [FLEETBENCH, "--suite", "qick"], cwd=self.directory)
        self.assertEqual(result.code, 64, result.err)
        self.assertEqual(result.err.count("is neither a suite"), 1)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_too_few_open_files_for_the_ranks(self):
        env = dict(os.environ, OMPI_COMM_WORLD_LOCAL_SIZE="100000")
        result = execute([FLEETBENCH, "--suite", self.scenario(TINY)], env=env, cwd=self.directory)
        self.assertEqual(result.code, 64)
        self.assertIn("ulimit -n", result.err)

    def test_a_missing_worker_is_named(self):
        import shutil

        alone = self.directory / "bin"
        alone.mkdir()
        shutil.copy(FLEETBENCH, alone)
        result = execute([str(alone / "fleetbench"), "--suite", "quick"], cwd=self.directory)
        self.assertEqual(result.code, 70)
        self.assertIn("fleetbench-worker", result.err)


class Help(FleetbenchTest):
    def test_every_command_has_help_and_list_shows_what_there_is(self):
        overview = execute([FLEETBENCH, "--help"])
        self.assertEqual(overview.code, 0)
        for command in ("run", "analyze", "report", "verdict", "baseline", "simulate", "list", "doctor"):
            self.assertIn(command, overview.out)
            shown = execute([FLEETBENCH, command, "--help"])
            self.assertEqual(shown.code, 0, shown.err)
            self.assertIn("fleetbench " + command, shown.out)
        self.assertIn("cpu_gemm", execute([FLEETBENCH, "list", "probes"]).out)
        self.assertIn("quick", execute([FLEETBENCH, "list", "suites"]).out)
        self.assertIn("mpi_pairs.bandwidth", execute([FLEETBENCH, "list", "metrics"]).out)

    def test_probes_are_listed_with_what_their_parameters_may_be(self):
        listed = execute([FLEETBENCH, "list", "probes"]).out
        self.assertIn("(default 0.25; 0.01 to 3600)", listed)
        self.assertIn("(default 0.2; above 0 to 0.9)", listed)
        self.assertIn('(default "libaio"; one of libaio, psync)', listed)
        self.assertIn('(default ["fp32","fp64"]; any of fp32, fp64)', listed)

    def test_every_probe_is_documented(self):
        listed = execute([FLEETBENCH, "list", "probes"]).out
        probes = {line.split(":")[0] for line in listed.splitlines() if line and not line.startswith(" ")}
        self.assertIn("storage", probes)
        docs = Path(__file__).resolve().parent.parent.parent / "docs"
        index = (docs / "probes.md").read_text(encoding="utf-8")
        pages = "".join(page.read_text(encoding="utf-8").splitlines()[0] for page in (docs / "probes").glob("*.md"))
        for probe in probes:
            self.assertIn(probe, index)
            self.assertRegex(pages, rf"\b{probe}\b")

    def test_doctor_gives_the_launch_line_of_where_it_is(self):
        hosts = self.directory / "hosts"
        hosts.write_text("# racks 1\nnode1 slots=8\nnode2 slots=8\n\nnode2\n")
        by_file = execute([FLEETBENCH, "doctor", "--hostfile", str(hosts)])
        self.assertIn(f"-np 2 --map-by ppr:1:node --hostfile {hosts} fleetbench --suite quick", by_file.out)
        env = dict(os.environ, SLURM_JOB_ID="17", SLURM_JOB_NUM_NODES="8")
        in_slurm = execute([FLEETBENCH, "doctor"], env=env)
        self.assertIn("srun --mpi=pmix -K -N 8 --ntasks-per-node=1 fleetbench --suite quick", in_slurm.out)
        self.assertIn("--nodes-by rank", execute([FLEETBENCH, "doctor"]).out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
