"""Who may depend on whom: a rule of docs/architecture.md that nobody has to remember."""
import re
import subprocess
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("results-schema", "probes", "harness")

# What a folder may include of the project, beside itself.
MAY_SEE = {
    "results-schema": set(),
    "probes": {"results-schema"},
    "probes/support": {"results-schema", "probes"},
    "probes/memory": {"results-schema", "probes", "probes/support"},
    "probes/text": {"results-schema", "probes", "probes/support"},
    "probes/images": {"results-schema", "probes", "probes/support"},
    "probes/fio": {"results-schema", "probes", "probes/support"},
    "probes/storage": {"results-schema", "probes", "probes/fio", "probes/support"},
    "probes/mpi": {"results-schema", "probes", "probes/support"},
    "probes/gpu": {"results-schema", "probes", "probes/support", "probes/gpu/nvml"},
    "probes/gpu/nvml": {"results-schema", "probes", "probes/support", "probes/gpu"},
    "probes/gpu/nccl": {"results-schema", "probes", "probes/support", "probes/gpu"},
    "harness/plan": {"results-schema", "probes"},
    "harness/detect": {"results-schema"},
    "harness/report": {"results-schema"},
    "harness/simulate": {"results-schema"},
    "harness/worker": {"results-schema"},
    "harness/record": {"results-schema"},
    "harness/gate": {"results-schema", "harness/record", "harness/report", "harness/worker"},
    "harness/fleet": {"results-schema", "probes", "probes/mpi", "probes/support", "harness/plan", "harness/worker"},
}
PURE = ("harness/plan", "harness/detect", "harness/report", "harness/simulate")
# Files, clocks, processes, threads that share, the network, the environment.
IMPURE = re.compile(
    r"^(mpi\.h|cuda|nccl|fstream|iostream|filesystem|chrono|ctime|time\.h|unistd\.h|fcntl\.h|poll\.h|signal\.h|sched\.h"
    r"|spawn\.h|dirent\.h|cstdlib|stdlib\.h|sys/|netinet/|cxxopts\.hpp|benchmark/)"
)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def sources():
    for folder in FOLDERS:
        for path in sorted((SOURCE / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".cu", ".cuh"):
                yield path.relative_to(SOURCE)


def includes(path):
    return INCLUDE.findall((SOURCE / path).read_text(encoding="utf-8"))


class Structure(unittest.TestCase):
    def test_there_is_something_to_look_at(self):
        self.assertGreater(len(list(sources())), 50)

    def test_only_fleet_and_mpi_probes_include_mpi(self):
        for path in sources():
            if "mpi.h" in includes(path):
                self.assertIn(str(path.parent), ("harness/fleet", "probes/mpi"), path)

    def test_only_nccl_probes_include_nccl(self):
        # Elsewhere its calls would have to be linked, and a worker without NCCL would not start.
        for path in sources():
            if "nccl.h" in includes(path):
                self.assertEqual(str(path.parent), "probes/gpu/nccl", path)

    def test_only_one_file_includes_cxxopts(self):
        self.assertEqual([str(p) for p in sources() if "cxxopts.hpp" in includes(p)], ["harness/cli/options.cpp"])

    def test_pure_folders_reach_for_nothing_outside(self):
        for path in sources():
            if str(path.parent) in PURE:
                for header in includes(path):
                    self.assertIsNone(IMPURE.match(header), f"{path} includes <{header}>")

    def test_dependencies_point_one_way(self):
        for path in sources():
            folder = str(path.parent)
            if folder not in MAY_SEE:
                continue
            for header in includes(path):
                target = str(Path(header).parent)
                if target.split("/")[0] in FOLDERS and target != folder:
                    self.assertIn(target, MAY_SEE[folder] | self.worker_files(folder), f"{path} includes {header}")

    def test_the_gpu_simulation_knows_nothing_of_the_product(self):
        # It stands for NVIDIA's libraries: what it shared with the product could be wrong in both alike.
        libraries = [path for path in (SOURCE / "tests/gpu_sim").rglob("*.[ch]pp") if path.parent.name != "test"]
        self.assertGreater(len(libraries), 30)
        for path in libraries:
            for header in includes(path):
                if "/" in header and header.split("/")[0] in (*FOLDERS, "tests"):
                    self.assertTrue(header.startswith("tests/gpu_sim/"), f"{path} includes {header}")

    def worker_files(self, folder):
        # The probes that the worker runs are made of what these folders hold.
        parts = {"probes/support", "probes/fio", "probes/images", "probes/memory", "probes/storage", "probes/text"}
        return parts if folder == "probes" else set()

    def test_nothing_runs_a_shell(self):
        for path in sources():
            text = (SOURCE / path).read_text(encoding="utf-8")
            self.assertIsNone(re.search(r"\b(system|popen|wordexp|execlp?|execle)\(", text), path)
            self.assertNotIn("/bin/sh", text, path)

    def test_the_environment_is_handed_on_and_never_recorded(self):
        # Who sees all of it: children get it, nobody writes it down.
        where = [str(p) for p in sources() if re.search(r"\benviron\b", (SOURCE / p).read_text(encoding="utf-8"))]
        self.assertEqual(
            where, ["probes/support/program.cpp", "harness/gate/launcher.cpp", "harness/worker/child_process.cpp"]
        )

    def test_every_fuzzed_reader_has_a_corpus(self):
        readers = re.search(r"set\(readers ([^)]*)\)", (SOURCE / "tests/fuzz/CMakeLists.txt").read_text(encoding="utf-8"))
        folders = {path.name for path in (SOURCE / "tests/fuzz/corpus").iterdir() if any(path.iterdir())}
        self.assertEqual(set(readers[1].split()), folders)

    def test_mpi_abort_stands_in_one_place(self):
        where = [str(p) for p in sources() if "MPI_Abort(" in (SOURCE / p).read_text(encoding="utf-8")]
        self.assertEqual(where, ["harness/fleet/mpi_session.cpp"])

    def test_scripts_say_what_they_are_for(self):
        for name in ("setup", "demo", "test", "format", "fuzz", "gpu-check", "sanitize", "testfleet"):
            shown = subprocess.run(
                [SOURCE / "scripts" / name, "--help"], capture_output=True, text=True, timeout=20, check=False
            )
            self.assertEqual(shown.returncode, 0, name)
            self.assertIn("Usage", shown.stdout, name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
