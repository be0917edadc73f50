"""Links that go down, come back, or crawl, also in the middle of what MPI carries."""
import contextlib
import time

from . import moments, scenarios
from .expectation import COMPLETE, VICTIM, Expectation
from .kind import ROOT, Kind, always, at
from .process_faults import UNREACHABLE_S, lost_at_each

FLAP_S = 3
SLOW_LINK = "80mbit"
MIB = 1 << 20


def cuts(stage):
    stage.fleet.cut(stage.victim)


def flaps(stage):
    cuts(stage)
    time.sleep(FLAP_S)
    stage.fleet.heal()


def crawls(stage):
    stage.fleet.fault("link", stage.victim, "100kbit", "both")


def slows_all_links(stage):
    for node in stage.fleet.nodes:
        stage.fleet.fault("link", node, SLOW_LINK, "both")


def after_bytes(count):
    """When so many bytes more have gone through the victim's link since the run was gathered."""

    @contextlib.contextmanager
    def moment(stage):
        stage.launched.wait_for(moments.passed(stage, "inventory", 0))
        start = stage.fleet.bytes_through(stage.victim)
        stage.launched.wait_for(lambda: stage.fleet.bytes_through(stage.victim) >= start + count)
        yield

    return moment


def last_slot(stage):
    return moments.gathering(stage, before=("cpu_gemm", 0), last=("cpu_gemm", 1))


# A pair is verified and warmed up by a window of 8 MiB each way, before anything is timed.
IN_PAIR = at(after_bytes(8 * MIB), after_bytes(44 * MIB), last_slot)
# A collective of 4 MiB sends and receives 12 MiB on each of four nodes; the first one verifies.
IN_GROUP = at(after_bytes(4 * MIB), after_bytes(32 * MIB), last_slot)

CRAWLING = Expectation(("FAIL", "WARN", "INCONCLUSIVE"), complete=False, named=(VICTIM,), left_s=UNREACHABLE_S)

KINDS = [
    Kind("node_cut", "a node's link goes down", cuts, lost_at_each(UNREACHABLE_S)),
    Kind("link_flaps", f"a node's link is down for {FLAP_S} s", flaps, always(COMPLETE)),
    Kind("pair_cut", "a node's link goes down while a pair sends", cuts, lost_at_each(UNREACHABLE_S),
         scenario=scenarios.PAIRED, moments=IN_PAIR, before=slows_all_links),
    Kind("group_cut", "a node's link goes down in a collective", cuts, lost_at_each(UNREACHABLE_S),
         scenario=scenarios.GATHERED, moments=IN_GROUP, before=slows_all_links),
    Kind("link_crawls", "a node's link falls to 100 kbit/s", crawls, always(COMPLETE)),
    Kind("pair_crawls", "a node's link falls to 100 kbit/s while a pair sends", crawls,
         at(CRAWLING, CRAWLING, COMPLETE),
         scenario=scenarios.PAIRED, moments=IN_PAIR, before=slows_all_links),
    Kind("root_cut", "the link of the root's node goes down", cuts, always(
        Expectation(("FAIL", "INCONCLUSIVE"), complete=False, named=(ROOT,), left_s=UNREACHABLE_S)), victim=ROOT),
]  # fmt: skip
