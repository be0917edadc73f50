"""NCCL on simulated GPUs where somebody fails, hangs, dies or has no NCCL: what the others say, and how soon."""
import time
import unittest

from fleetbench_process import BUILD, TIME_SCALE
from nccl_workers import A_PAIR, TWO_BY_TWO, NcclTest, NcclWorkers


class Trouble(NcclTest):
    """Nobody waits for ever, and who is left measures again."""

    LIMITS = {"init_limit_s": 2 * TIME_SCALE, "wait_limit_s": 2 * TIME_SCALE, "max_s": 0.1}
    LONGEST_S = 30 * TIME_SCALE

    def run_with(self, workers, probe="nccl_collectives", **params):
        prepared = workers.prepare(probe, **self.LIMITS, **params)
        self.all_ok(prepared)
        start = time.monotonic()
        answers = workers.measure(prepared[0]["invitation"], limit_s=self.LONGEST_S)
        self.assertNotIn(None, answers, "a worker did not end within its limit")
        self.assertLess(time.monotonic() - start, self.LONGEST_S)
        return answers

    def test_an_initialisation_that_fails_is_told(self):
        with NcclWorkers(A_PAIR, faults="node1:0:nccl_init=fail") as workers:
            answers = self.run_with(workers)
            self.assertEqual(answers[1]["status"], "failed")
            self.assertIn("rank 1 of 2 (node1 gpu0): ncclCommInitRankConfig", answers[1]["reason"])
            self.assertIn("system error", answers[1]["reason"])
            self.assertIn(answers[0]["status"], ("failed", "timeout"))
            self.assertIn("initialisation", answers[0]["detail"]["phase"])

    def test_an_initialisation_that_hangs_ends_at_its_limit(self):
        with NcclWorkers(A_PAIR, faults="node1:0:nccl_init=hang") as workers:
            for rank, answer in enumerate(self.run_with(workers)):
                self.assertEqual(answer["status"], "timeout")
                self.assertRegex(
                    answer["reason"], rf"rank {rank} of 2 \(node{rank} gpu0\) waited .* s in the initialisation of the communicator"
                )

    def test_a_hang_names_rank_and_phase_and_who_is_left_measures_again(self):
        # 1 checked, 1 to warm up, then those that are timed.
        with NcclWorkers(TWO_BY_TWO, faults="node1:1:nccl_hang=broadcast@5") as workers:
            answers = self.run_with(workers, collectives=["broadcast"], begin_bytes=2 << 20, end_bytes=2 << 20, iterations=6)
            for rank, answer in enumerate(answers):
                self.assertEqual(answer["status"], "timeout", answer)
                node, gpu = TWO_BY_TWO[rank]
                self.assertRegex(
                    answer["reason"],
                    rf"rank {rank} of 4 \({node} gpu{gpu}\) waited .* s in broadcast of 2 MiB, call 3 of 6",
                )
                self.assertEqual((answer["detail"]["calls_done"], answer["detail"]["calls"]), (2, 6))
                self.assertEqual(answer["detail"]["phase"], "broadcast of 2 MiB")
            for answer in self.run_with(workers, collectives=["broadcast"], end_bytes=8):
                self.assertEqual(answer["status"], "ok", answer.get("reason"))

    def test_a_call_that_is_refused_within_a_group_spoils_no_later_communicator(self):
        with NcclWorkers(A_PAIR, faults="node1:0:nccl_refuse=send@3") as workers:
            answers = self.run_with(workers, "nccl_pairs")
            self.assertEqual(answers[1]["status"], "failed", answers[1])
            self.assertIn("ncclSend", answers[1]["reason"])
            for answer in self.run_with(workers, "nccl_pairs"):
                self.assertEqual(answer["status"], "ok", answer.get("reason"))

    def test_who_does_not_come_keeps_the_others_for_as_long_as_they_may_wait(self):
        with NcclWorkers(A_PAIR) as workers:
            prepared = self.all_ok(workers.prepare("nccl_pairs", **self.LIMITS))
            answer = workers.measure(prepared[0]["invitation"], ranks=[0], limit_s=self.LONGEST_S)[0]
            self.assertEqual(answer["status"], "timeout")
            self.assertIn("rank 0 of 2 (node0 gpu0) waited", answer["reason"])

    def test_when_a_worker_dies_the_others_end(self):
        with NcclWorkers(TWO_BY_TWO, faults="node1:1:nccl_hang=all_gather@1") as workers:
            params = {**self.LIMITS, "wait_limit_s": 20 * TIME_SCALE, "collectives": ["all_gather"]}
            prepared = self.all_ok(workers.prepare("nccl_collectives", **params))

            def act(rank, worker):
                if rank == 3:
                    time.sleep(1)
                    worker.process.kill()
                    return None
                return worker.ask(self.LONGEST_S, cmd="measure", invitation=prepared[0]["invitation"])

            workers.workers[3].process.stdin.write(
                b'{"cmd":"measure","invitation":"' + prepared[0]["invitation"].encode() + b'"}\n'
            )
            workers.workers[3].process.stdin.flush()
            start = time.monotonic()
            answers = workers.at_once(act)
            self.assertLess(time.monotonic() - start, 15 * TIME_SCALE)
            for rank in range(3):
                self.assertEqual(answers[rank]["status"], "failed", answers[rank])
                self.assertIn(f"rank {rank} of 4", answers[rank]["reason"])
                self.assertIn("remote process exited", answers[rank]["reason"])

    def test_without_nccl_its_probes_say_what_to_install_and_the_others_measure(self):
        bare = self.directory / "bare"
        bare.mkdir()
        for library in ("libcudart.so.13", "libcublasLt.so.13", "libfleetbench_gpu_model.so", "libnvidia-ml.so.1"):
            (bare / library).symlink_to(BUILD / "gpu_sim" / library)
        for settings in (
            {"LD_LIBRARY_PATH": str(bare), "FLEETBENCH_NCCL": str(bare / "libnccl.so.2")},
            {"FLEETBENCH_NCCL": "/nowhere/libnccl.so.2"},
        ):
            with NcclWorkers(A_PAIR, **settings) as workers:
                for probe in ("nccl_collectives", "nccl_pairs"):
                    for answer in workers.prepare(probe):
                        self.assertEqual(answer["status"], "skipped")
                        self.assertIn("libnccl2", answer["reason"])
                        self.assertIn("FLEETBENCH_NCCL", answer["reason"])
                self.assertEqual(workers.workers[0].prepare("gpu_copy", {})["status"], "ok")

    def test_a_library_that_is_too_old_says_which_one_is_needed(self):
        with NcclWorkers(A_PAIR, FLEETBENCH_GPU_SIM_NCCL_VERSION="2.17.1") as workers:
            answer = workers.prepare("nccl_pairs")[0]
            self.assertEqual(answer["status"], "skipped")
            self.assertIn("is NCCL 2.17.1, and 2.18.0 or later is needed", answer["reason"])

    def test_versions_that_do_not_fit_are_told(self):
        with NcclWorkers(A_PAIR, own={1: {"FLEETBENCH_GPU_SIM_NCCL_VERSION": "2.27.5"}}) as workers:
            statuses = {answer["status"] for answer in self.run_with(workers)}
            self.assertNotIn("ok", statuses)

    def test_nobody_measures_uninvited_or_by_a_false_invitation(self):
        with NcclWorkers(A_PAIR) as workers:
            self.all_ok(workers.prepare("nccl_pairs"))
            answer = workers.workers[1].measure()
            self.assertEqual(answer["status"], "failed")
            self.assertIn("nobody invited", answer["reason"])
            answer = workers.workers[1].ask(cmd="measure", invitation="c0ffee")
            self.assertIn("is no unique id of NCCL", answer["reason"])

    def test_one_gpu_alone_has_nobody_to_measure_with(self):
        with NcclWorkers(A_PAIR[:1]) as workers:
            for probe in ("nccl_collectives", "nccl_pairs"):
                self.assertEqual(workers.prepare(probe)[0]["status"], "skipped")


if __name__ == "__main__":
    unittest.main(verbosity=2)
