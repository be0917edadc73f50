"""What must come of a fault."""
from dataclasses import dataclass, replace

VICTIM = "the victim"  # stands for the host that the fault strikes
CODES = {"PASS": 0, "WARN": 1, "FAIL": 2, "INCONCLUSIVE": 3}
# The figures of so disturbed a machine mean nothing: slow findings may be among them.
ANY_BUT_FAIL = ("PASS", "WARN", "INCONCLUSIVE")


@dataclass(frozen=True)
class Expectation:
    verdicts: tuple
    lost: tuple = ()  # hosts whose ranks are recorded as lost
    phases: tuple = ()  # in which of these
    missing: tuple = ()  # hosts with a finding of direction `missing`; besides those that are lost
    named: tuple = ()  # hosts that are lost, missing, in a finding or not measured, it is not said which
    said: str = ""  # what must match a line of the output
    complete: bool = True  # who is not lost has all its samples, and they are ok
    kept: bool = True  # the journal is there at the end
    on_disk: bool = True  # report and verdict are
    reported: bool = True  # the report is, where anything can be
    code: int | None = None  # the command's exit code, where the verdict does not give it
    left_s: float = 10  # how long after the end, and after healing, processes may last
    or_else: "Expectation | None" = None  # what may come of it as well, where the fault takes effect later

    def of(self, victim):
        def hosts(names):
            return tuple(victim if name == VICTIM else name for name in names)

        return replace(self, lost=hosts(self.lost), missing=hosts(self.missing), named=hosts(self.named),
                       or_else=self.or_else and self.or_else.of(victim))  # fmt: skip


def lost(phase, left_s=10):
    return Expectation(("FAIL",), lost=(VICTIM,), phases=(phase,), left_s=left_s)


# Its worker gave no result, its rank is well.
NO_RESULT = Expectation(("FAIL",), missing=(VICTIM,), complete=False)
COMPLETE = Expectation(ANY_BUT_FAIL)


def broken_off(said, **more):
    return Expectation(("INCONCLUSIVE",), said=said, complete=False, **more)
