"""Several GPU workers that measure with each other, driven as ranks drive them, without MPI."""
import threading

from fleetbench_process import BUILD
from test_gpu_worker import LONGEST_S, GpuWorker, GpuWorkerTest

TWO_BY_TWO = [("node0", 0), ("node0", 1), ("node1", 0), ("node1", 1)]
A_PAIR = [("node0", 0), ("node1", 0)]

# Small, so that few real bytes travel.
SMALL = {
    "nccl_collectives": {
        "collectives": ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "sendrecv"],
        "begin_bytes": 8,
        "end_bytes": 1 << 20,
        "factor": 1 << 17,
        "iterations": 4,
        "warmup": 1,
        "max_s": 1.0,
        "init_limit_s": 30,
        "wait_limit_s": 30,
    },
    "nccl_pairs": {
        "message_bytes": 1 << 20,
        "bytes": 4 << 20,
        "warmup": 1,
        "max_s": 1.0,
        "latency_bytes": 8,
        "latency_iterations": 40,
        "init_limit_s": 30,
        "wait_limit_s": 30,
    },
}


class NcclWorkers:
    """One worker for each of `seats`, pairs of a node and the number of a GPU, in the order of ranks."""

    def __init__(self, seats, faults="", gpus=4, leaks=None, own=None, **settings):
        self.seats = seats
        self.workers = [
            GpuWorker(
                node=node,
                gpus=gpus,
                faults=faults,
                leaks=leaks,
                CUDA_VISIBLE_DEVICES=str(gpu),
                **{**settings, **(own or {}).get(rank, {})},
            )
            for rank, (node, gpu) in enumerate(seats)
        ]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for worker in self.workers:
            worker.__exit__()

    def at_once(self, act, ranks=None):
        """What act(rank, worker) gave, for each rank."""
        ranks = range(len(self.workers)) if ranks is None else ranks
        answers = {}
        threads = [
            threading.Thread(target=lambda rank=rank: answers.update({rank: act(rank, self.workers[rank])})) for rank in ranks
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [answers[rank] for rank in ranks]

    def prepare(self, probe, work=None, **params):
        places = [{"node": node, "device": f"gpu{gpu}"} for node, gpu in self.seats]
        return self.at_once(
            lambda rank, worker: worker.ask(
                cmd="prepare",
                probe=probe,
                params={**SMALL[probe], **params},
                work={**(work or {}), "place": {"index": rank, "ranks": places}},
            )
        )

    def measure(self, invitation, ranks=None, limit_s=LONGEST_S):
        return self.at_once(lambda _, worker: worker.ask(limit_s, cmd="measure", invitation=invitation), ranks)

    def run(self, probe, work=None, **params):
        """The answers to `measure`; those to `prepare` where one of them is not ok."""
        prepared = self.prepare(probe, work, **params)
        if any(answer["status"] != "ok" for answer in prepared):
            return prepared
        return self.measure(prepared[0]["invitation"])

    def names(self, probe, **params):
        answer = self.workers[0].ask(cmd="metrics", probe=probe, params={**SMALL[probe], **params})
        return [metric["name"] for metric in answer["metrics"]]


class NcclTest(GpuWorkerTest):
    def setUp(self):
        super().setUp()
        if not (BUILD / "gpu_sim" / "libnccl.so.2").exists():
            self.skipTest("built without nccl.h")

    def all_ok(self, answers):
        for answer in answers:
            self.assertEqual(answer["status"], "ok", answer.get("reason"))
        return answers

    def measured(self, seats, probe, work=None, params=None, **settings):
        """Name → values of the ranks; and their details."""
        params = params or {}
        with NcclWorkers(seats, **settings) as workers:
            answers = self.all_ok(workers.run(probe, work, **params))
            names = workers.names(probe, **params)
        values = {name: [answer["values"][i] for answer in answers] for i, name in enumerate(names)}
        return values, [answer["detail"] for answer in answers]
