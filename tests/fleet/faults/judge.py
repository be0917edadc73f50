"""Whether a fault had the consequences that it must have, and no others."""
import json
import re
import zlib
from dataclasses import replace

from .expectation import CODES


def judge(outcome):
    """What is wrong, one line each. Where two outcomes are right, one of them has to be met whole."""
    complaints = judge_by_one(outcome)
    other = outcome.expected.or_else
    if complaints and other is not None and not judge(replace(outcome, expected=other)):
        return []
    return complaints


def judge_by_one(outcome):
    checks = (ended_as_its_verdict, names_the_right, lost_in_the_right_phase, kept_what_was_seen, is_complete, left_nothing)
    return [complaint for check in checks for complaint in check(outcome)]


def ended_as_its_verdict(outcome):
    expected = outcome.expected
    if expected.on_disk:
        if outcome.report is None and expected.reported:
            yield "there is no report.json"
        if outcome.report is not None and outcome.report["verdict"] != outcome.verdict:
            yield f"report.json says {outcome.report['verdict']}, `fleetbench verdict` {outcome.verdict}"
        if outcome.verdict not in expected.verdicts:
            yield f"the verdict is {outcome.verdict}, not {' or '.join(expected.verdicts)}"
    if outcome.verdict_code not in (CODES.get(outcome.verdict), None if expected.kept else 64):
        yield f"`fleetbench verdict` says {outcome.verdict or 'nothing'} and ends with {outcome.verdict_code}"
    if expected.code is not None:
        codes = {expected.code}
    else:
        codes = {exit_code(verdict, outcome.kind.gate) for verdict in expected.verdicts}
        if expected.on_disk and outcome.verdict in CODES:
            codes &= {exit_code(outcome.verdict, outcome.kind.gate)}
    if outcome.code not in codes:
        yield f"ended with {outcome.code}, not {sorted(codes)}"


def exit_code(verdict, gate):
    """Of a run by itself WARN is 0 too."""
    return 0 if verdict == "WARN" and not gate else CODES[verdict]


def missing_hosts(report):
    return {f["subject"].get("node") for f in report["findings"] if f["direction"] == "missing"}


def mentioned_hosts(outcome):
    text = json.dumps([outcome.report[part] for part in ("findings", "not_measured")])
    return set(re.findall(r"node\d+", text)) | set(outcome.report["fleet"]["lost"])


def names_the_right(outcome):
    expected, report = outcome.expected, outcome.report
    if expected.said and not re.search(expected.said, outcome.text):
        yield f"its output does not say {expected.said!r}"
    if report is None or not expected.on_disk:
        return
    if expected.named:
        if not mentioned_hosts(outcome) >= set(expected.named):
            yield f"the report names {sorted(mentioned_hosts(outcome))}, not {expected.named}"
        return
    if set(report["fleet"]["lost"]) != set(expected.lost):
        yield f"lost is {report['fleet']['lost']}, not {list(expected.lost)}"
    should = set(expected.lost) | set(expected.missing)
    if missing_hosts(report) != should:
        yield f"missing are {sorted(map(str, missing_hosts(report)))}, not {sorted(should)}"


def lost_in_the_right_phase(outcome):
    expected = outcome.expected
    if expected.named or not expected.kept:
        return
    losses = {(outcome.names.get(loss["node"]), loss["phase"]) for loss in outcome.losses}
    should = {(host, phase) for host in expected.lost for phase in expected.phases}
    if losses != should:
        yield f"the journal's losses are {sorted(map(str, losses))}, not {sorted(map(str, should))}"


def intact(line):
    """The checksum is that of all before it."""
    body, mark, crc = line.rpartition(',"crc":"')
    return bool(mark) and crc == f'{zlib.crc32(body.encode()):08x}"}}'


def kept_what_was_seen(outcome):
    if not outcome.expected.kept:
        return
    if outcome.lines[: len(outcome.seen)] != outcome.seen:
        yield f"{len(outcome.records_lost)} of {len(outcome.seen)} lines of the journal are gone since the fault"
    damaged = [number for number, line in enumerate(outcome.lines, 1) if not intact(line)]
    if damaged:
        yield f"damaged lines of the journal: {damaged}"


def is_complete(outcome):
    """Who was not lost has a good sample of every pass of every step, as the scenario wants."""
    if not outcome.expected.complete:
        return
    records = [json.loads(line) for line in outcome.lines]
    scenario = outcome.kind.scenario
    steps = {r["id"]: r for r in records if r["t"] == "step"}
    survivors = [index for index, name in outcome.names.items() if name not in outcome.expected.lost]
    for wanted in scenario["steps"]:
        step = steps.get(wanted["probe"])
        if step is None:
            yield f"{wanted['probe']} was not begun"
            continue
        samples = [r for r in records if r["t"] == "sample" and r["step"] == step["step"]]
        good = {(r["pass"], r["node"]) for r in samples if r["status"] == "ok"}
        for number in range(wanted.get("passes", scenario["passes"])):
            without = [outcome.names[node] for node in survivors if (number, node) not in good]
            if without and not excused(wanted["probe"], without, outcome):
                yield f"{wanted['probe']}, pass {number + 1}: no good sample of {', '.join(without)}"


def excused(probe, without, outcome):
    """Who was to meet a lost node in a pair has nobody to measure with."""
    return probe == "mpi_pairs" and len(without) <= len(outcome.expected.lost)


def left_nothing(outcome):
    if outcome.processes_left:
        yield f"processes left: {', '.join(outcome.processes_left)}"
    if outcome.scratch_left:
        yield f"scratch left: {', '.join(outcome.scratch_left)}"
    if outcome.machine_left:
        yield f"left on the machine: {', '.join(outcome.machine_left)}"
