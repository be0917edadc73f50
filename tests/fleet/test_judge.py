"""The judge of the fault matrix must see each thing that can go wrong; otherwise its silence says
nothing."""
import json
import unittest
import zlib
from dataclasses import replace

from faults import process_faults, scenarios
from faults.cell import Outcome
from faults.expectation import ANY_BUT_FAIL, Expectation
from faults.judge import judge

NODES = {0: "node0", 1: "node1", 2: "node2", 3: "node3"}
KIND = process_faults.KINDS[0]
LOST = Expectation(("FAIL",), lost=("node2",), phases=("measure",))


def sealed(record):
    body = json.dumps(record, separators=(",", ":"))[:-1]
    return f'{body},"crc":"{zlib.crc32(body.encode()):08x}"}}'


def journal(losses, without=()):
    """All that STEADY measures, but for samples (step, pass, node) and what comes of a lost node."""
    records = [{"t": "step", "step": 0, "id": "cpu_gemm"}, {"t": "step", "step": 1, "id": "token_pack"}]
    lost = {loss["node"] for loss in losses}
    for step, passes in ((0, scenarios.STEADY["passes"]), (1, 1)):
        for number in range(passes):
            for node in NODES:
                if node not in lost and (step, number, node) not in without:
                    records.append({"t": "sample", "step": step, "pass": number, "node": node, "status": "ok"})
    return [sealed(record) for record in records + losses]


def outcome(expected=LOST, **changes):
    loss = {"t": "loss", "node": 2, "phase": "measure"}
    lines = journal([loss])
    report = {
        "verdict": "FAIL",
        "findings": [{"direction": "missing", "subject": {"kind": "node", "node": "node2"}}],
        "not_measured": [],
        "fleet": {"lost": ["node2"]},
    }
    made = Outcome(KIND, "measurement", expected, 75, code=2, verdict_code=2, verdict="FAIL", seen=lines[:8], lines=lines,
                   losses=[loss], names=NODES, report=report)  # fmt: skip
    return replace(made, **changes)


def healthy(**changes):
    lines = journal([])
    report = {"verdict": "PASS", "findings": [], "not_measured": [], "fleet": {"lost": []}}
    made = outcome(Expectation(ANY_BUT_FAIL), code=0, verdict_code=0, verdict="PASS", seen=lines[:8], lines=lines,
                   losses=[], report=report)  # fmt: skip
    return replace(made, **changes)


class TwoAreRight(unittest.TestCase):
    either = replace(LOST, phases=("prepare",), or_else=LOST)

    def test_one_of_them_has_to_be_met_whole(self):
        self.assertEqual(judge(outcome(self.either)), [])
        self.assertEqual(judge(outcome(replace(LOST, or_else=self.either))), [])
        gone = outcome(self.either, processes_left=["orted on node1"])
        self.assertTrue(any("orted" in complaint for complaint in judge(gone)))
        self.assertTrue(judge(outcome(replace(LOST, phases=("bye",), or_else=replace(LOST, phases=("launch",))))))


class Judge(unittest.TestCase):
    def assert_seen(self, judged, *texts):
        complaints = judge(judged)
        for text in texts:
            self.assertTrue(any(text in complaint for complaint in complaints), complaints)

    def test_what_is_as_it_must_be(self):
        self.assertEqual(judge(outcome()), [])
        self.assertEqual(judge(healthy()), [])

    def test_codes_and_verdicts(self):
        self.assert_seen(outcome(code=3), "ended with 3, not [2]")
        self.assert_seen(outcome(verdict_code=0), "ends with 0")
        self.assert_seen(outcome(verdict="PASS", verdict_code=0), "report.json says FAIL", "the verdict is PASS, not FAIL")
        self.assert_seen(outcome(report=None), "there is no report.json")

    def test_who_is_named(self):
        report = outcome().report
        other = [{"direction": "missing", "subject": {"node": "node1"}}]
        self.assert_seen(outcome(report={**report, "fleet": {"lost": []}}), "lost is []")
        self.assert_seen(outcome(report={**report, "findings": other}), "missing are ['node1'], not ['node2']")
        self.assert_seen(outcome(replace(LOST, said="killed")), "does not say 'killed'")
        self.assert_seen(outcome(replace(LOST, named=("node1",))), "the report names ['node2']")
        self.assert_seen(healthy(report={**healthy().report, "findings": other}), "missing are ['node1'], not []")

    def test_phases(self):
        self.assert_seen(outcome(losses=[{"node": 2, "phase": "bye"}]), "the journal's losses")
        self.assert_seen(outcome(losses=[]), "the journal's losses")
        self.assert_seen(healthy(losses=[{"node": 1, "phase": "prepare"}]), "the journal's losses")

    def test_records(self):
        whole = outcome().lines
        self.assert_seen(outcome(lines=whole[:3] + whole[4:]), "1 of 8 lines")
        damaged = [*whole[:-1], whole[-1].replace("measure", "prepare")]
        self.assert_seen(outcome(lines=damaged), f"damaged lines of the journal: [{len(whole)}]")

    def test_samples_of_the_others(self):
        loss = {"t": "loss", "node": 2, "phase": "measure"}
        lines = journal([loss], without={(0, 2, 1)})
        self.assert_seen(outcome(lines=lines), "cpu_gemm, pass 3: no good sample of node1")

    def test_what_is_left(self):
        self.assert_seen(outcome(processes_left=["7 on node1"]), "processes left: 7 on node1")
        self.assert_seen(outcome(scratch_left=["/x"]), "scratch left: /x")
        self.assert_seen(outcome(machine_left=["fb-x"]), "left on the machine: fb-x")


if __name__ == "__main__":
    unittest.main(verbosity=2)
