"""NCCL on simulated GPUs: what workers measure with each other, and what they say of each thing that may be wrong."""
import unittest
from pathlib import Path

from fleetbench_process import TIME_SCALE
from nccl_workers import A_PAIR, SMALL, TWO_BY_TWO, NcclTest, NcclWorkers

NO_LATENCY = {"FLEETBENCH_GPU_SIM_LATENCY": "0"}
# Of the simulation, in bytes a second.
NVLINK, NIC = 360e9, 48e9


class Collectives(NcclTest):
    PROBE = "nccl_collectives"
    LARGE = {"begin_bytes": 8 << 20, "end_bytes": 8 << 20, "iterations": 2}

    def factor(self, collective, ranks):
        return {"all_reduce": 2 * (ranks - 1) / ranks, "broadcast": 1, "reduce": 1, "sendrecv": 1}.get(
            collective, (ranks - 1) / ranks
        )

    def test_every_collective_is_right_and_its_figures_agree(self):
        leaks = self.directory / "leaks"
        with NcclWorkers(TWO_BY_TWO, leaks=leaks) as workers:
            answers = self.all_ok(workers.run(self.PROBE))
            names = workers.names(self.PROBE)
            for answer in workers.at_once(lambda _, worker: worker.ask(cmd="release")):
                self.assertEqual(answer["status"], "ok")
        self.assertEqual(leaks.read_text() if leaks.exists() else "", "")
        self.assertEqual(len(names), 14)
        for answer in answers:
            detail = answer["detail"]
            self.assertEqual(detail["members"], 4)
            for i, name in enumerate(names):
                collective, _, size = name.split(".")
                too_small = size == "8" and collective in ("all_gather", "reduce_scatter", "all_to_all")
                self.assertEqual(detail["bytes"][i], 0 if too_small else {"8": 8, "1M": 1 << 20}[size], name)
                if too_small:
                    self.assertIsNone(answer["values"][i])
                    continue
                self.assertEqual(detail["iterations"][i], 4)
                busbw = detail["bytes"][i] / detail["time_s"][i] * self.factor(collective, 4)
                self.assert_ratio(answer["values"][i], busbw, 1, within=1e-3)
                self.assertLessEqual(detail["enter_s"][i], detail["leave_s"][i])
                self.assertGreater(detail["enter_s"][i], 0)

    def test_workers_measure_again_with_a_communicator_of_their_own(self):
        leaks = self.directory / "leaks"
        with NcclWorkers(A_PAIR, leaks=leaks) as workers:
            for _ in range(3):
                self.all_ok(workers.run(self.PROBE, collectives=["all_reduce"], end_bytes=8))
                self.all_ok(workers.run("nccl_pairs"))
            workers.at_once(lambda _, worker: worker.ask(cmd="release"))
        self.assertEqual(leaks.read_text() if leaks.exists() else "", "")

    def test_rates_follow_the_model(self):
        for seats, rate in (([("node0", 0), ("node0", 1)], NVLINK), (A_PAIR, NIC)):
            values, _ = self.measured(seats, self.PROBE, params=self.LARGE, **NO_LATENCY)
            for name, of_ranks in values.items():
                for value in of_ranks:
                    if not name.startswith(("all_to_all", "sendrecv")):
                        self.assert_ratio(value, rate, 1, within=0.06)

    def test_a_slow_nic_slows_all_who_wait_for_it(self):
        params = {**self.LARGE, "collectives": ["all_reduce", "sendrecv"]}
        healthy, _ = self.measured(A_PAIR, self.PROBE, params=params, **NO_LATENCY)
        slow, _ = self.measured(A_PAIR, self.PROBE, params=params, faults="node1:0:nic=0.5", **NO_LATENCY)
        for name in healthy:
            for rank in range(2):
                self.assert_ratio(slow[name][rank], healthy[name][rank], 0.5)

    def test_who_comes_late_is_seen_to_enter_late(self):
        params = {"collectives": ["all_reduce"], "begin_bytes": 8, "end_bytes": 8}
        late_s = 0.3 * TIME_SCALE
        _, details = self.measured(TWO_BY_TWO, self.PROBE, params=params, faults=f"node1:0:nccl_late={late_s}")
        enter = [detail["enter_s"][0] for detail in details]
        leave = [detail["leave_s"][0] for detail in details]
        for rank in (0, 1, 3):
            uncertainty = details[rank]["clock_uncertainty_s"] + details[2]["clock_uncertainty_s"]
            self.assertLess(uncertainty, late_s / 2)
            self.assertLess(abs(enter[2] - enter[rank] - late_s), uncertainty + 0.001)
            self.assertLess(abs(leave[2] - leave[rank]), uncertainty + 0.001)

    def test_sizes_that_do_not_fit_are_left_out_by_all(self):
        params = {"collectives": ["all_reduce"], "begin_bytes": 1 << 10, "end_bytes": 1 << 30, "factor": 1 << 10}
        small = "*:*:oom=8000000"
        with NcclWorkers(A_PAIR[:1], faults=small) as workers:
            work = workers.workers[0].ask(cmd="calibrate", probe=self.PROBE, params={**SMALL[self.PROBE], **params})["work"]
        self.assertLess(work["most_bytes"], 4_000_000)
        values, details = self.measured(A_PAIR, self.PROBE, work, params, faults=small)
        self.assertEqual(list(values), ["all_reduce.busbw.1K", "all_reduce.busbw.1M", "all_reduce.busbw.1G"])
        self.assertEqual(values["all_reduce.busbw.1G"], [None, None])
        self.assertEqual(details[0]["bytes"], [1 << 10, 1 << 20, 0])
        self.assertGreater(values["all_reduce.busbw.1M"][0], 0)

    def test_what_would_take_too_long_runs_less_often_on_all_alike(self):
        params = {"collectives": ["all_reduce"], "begin_bytes": 8, "end_bytes": 8, "iterations": 1000, "max_s": 0.5}
        _, details = self.measured(TWO_BY_TWO, self.PROBE, params=params, faults="node1:1:nccl_late=0.01")
        runs = {detail["iterations"][0] for detail in details}
        self.assertEqual(len(runs), 1)
        self.assertLess(runs.pop(), 60)

    def test_what_nccl_says_of_itself_are_facts(self):
        params = {"collectives": ["all_reduce", "all_gather"], "begin_bytes": 8, "end_bytes": 8 << 20, "factor": 1 << 10}
        _, within = self.measured([("node0", 0), ("node0", 1)], self.PROBE, params=params)
        _, across = self.measured(TWO_BY_TWO, self.PROBE, params=params, FLEETBENCH_GPU_SIM_NCCL_NETWORK="Socket")
        for detail in within + across:
            self.assertEqual(detail["facts"]["nccl_version"], "2.28.9")
            self.assertNotIn("not_measured", detail)
        for detail in within:
            self.assertEqual(detail["facts"]["nccl_transports"], "P2P/CUMEM")
            self.assertRegex(detail["facts"]["nccl_all_reduce"], r"^\w+/\w+ to 8.*, \w+/\w+ to 8M$")
            self.assertRegex(detail["facts"]["nccl_all_gather"], "to 8M$")
        for detail in across:
            self.assertEqual(detail["facts"]["nccl_network"], "Socket")
            self.assertIn("NET/Socket", detail["facts"]["nccl_transports"])
            self.assertNotIn("nccl_all_reduce", detail["facts"])
        self.assertIn("all_reduce", across[0]["algorithms"])

    def test_what_the_user_asked_nccl_to_tell_is_left_to_them(self):
        log = self.directory / "nccl.%p.log"
        _, details = self.measured(
            A_PAIR,
            self.PROBE,
            params={"collectives": ["all_reduce"], "end_bytes": 8},
            NCCL_DEBUG="INFO",
            NCCL_DEBUG_FILE=str(log),
        )
        self.assertEqual(details[0]["facts"], {"nccl_version": "2.28.9"})
        self.assertIn("NCCL_DEBUG is set", details[0]["not_measured"][0]["reason"])
        logs = list(Path(self.directory).glob("nccl.*.log"))
        self.assertEqual(len(logs), 2)
        self.assertIn("NCCL INFO", logs[0].read_text())


class Pairs(NcclTest):
    PROBE = "nccl_pairs"
    LARGE = {"message_bytes": 4 << 20, "bytes": 16 << 20}

    def test_each_direction_has_its_own_figure(self):
        values, details = self.measured(A_PAIR, self.PROBE, params=self.LARGE, faults="node0:0:nic_send=0.5", **NO_LATENCY)
        there, back = values["bandwidth"]
        self.assert_ratio(there, NIC / 2, 1, within=0.08)
        self.assert_ratio(back, NIC, 1, within=0.08)
        self.assert_ratio(values["bandwidth_both"][0], NIC, 1, within=0.1)
        self.assertEqual((values["bandwidth_both"][1], values["latency"][1]), (None, None))
        self.assertEqual(details[0]["sent_messages"], 4)

    def test_latency_is_half_of_a_round_trip(self):
        values, details = self.measured(A_PAIR, self.PROBE)
        self.assertGreater(values["latency"][0], 1e-6)
        self.assertLess(values["latency"][0], 1e-4)
        self.assertEqual(details[0]["latency_batches"], 2)

    def test_several_gpus_a_node_send_at_once_and_add_up(self):
        one, _ = self.measured(A_PAIR, self.PROBE, params=self.LARGE, **NO_LATENCY)
        two, _ = self.measured(TWO_BY_TWO, self.PROBE, params=self.LARGE, **NO_LATENCY)
        self.assert_ratio(two["bandwidth"][0], one["bandwidth"][0], 2, within=0.2)
        self.assert_ratio(two["bandwidth"][2], one["bandwidth"][1], 2, within=0.2)
        self.assertEqual([two["bandwidth"][1], two["bandwidth"][3]], [None, None])

    def test_gpus_of_one_node_are_a_pair_too(self):
        values, _ = self.measured([("node0", 0), ("node0", 1)], self.PROBE, params=self.LARGE, **NO_LATENCY)
        self.assert_ratio(values["bandwidth"][0], NVLINK, 1, within=0.1)

    def test_halves_that_are_not_alike_are_no_pair(self):
        with NcclWorkers(TWO_BY_TWO[:3]) as workers:
            for answer in workers.prepare(self.PROBE):
                self.assertEqual(answer["status"], "skipped")
                self.assertIn("as many GPUs of one node as of another", answer["reason"])


class Wrong(NcclTest):
    def test_a_wrong_element_of_any_collective_is_wrong_on_all(self):
        for function, collective in (
            ("all_reduce", "all_reduce"),
            ("all_gather", "all_gather"),
            ("reduce_scatter", "reduce_scatter"),
            ("send", "all_to_all"),
            ("broadcast", "broadcast"),
            ("send", "sendrecv"),
        ):
            with self.subTest(collective=collective), NcclWorkers(
                TWO_BY_TWO, faults=f"node0:1:nccl_wrong={function}@1"
            ) as workers:
                answers = workers.run("nccl_collectives", collectives=[collective], begin_bytes=4096, end_bytes=4096)
                self.assertEqual([answer["status"] for answer in answers], ["wrong"] * 4, answers[0].get("reason"))
                self.assertEqual(len({answer["reason"] for answer in answers}), 1)
                self.assertRegex(answers[0]["reason"], rf"nccl_collectives: {collective} of 4 KiB: element \d+ on rank \d of 4")
                for answer in answers:
                    self.assertGreater(answer["detail"]["wrong"][0], 0)
                    self.assertEqual(answer["detail"]["bytes"], [4096])

    def test_a_wrong_element_of_the_root_alone_is_told_by_all(self):
        with NcclWorkers(A_PAIR, faults="node0:0:nccl_wrong=reduce@1") as workers:
            answers = workers.run("nccl_collectives", collectives=["reduce"], begin_bytes=4096, end_bytes=4096)
        self.assertEqual([answer["status"] for answer in answers], ["wrong", "wrong"])
        self.assertIn("rank 0 of 2 (node0 gpu0)", answers[1]["reason"])

    def test_a_damaged_message_of_a_pair_names_its_way(self):
        with NcclWorkers(A_PAIR, faults="node1:0:nccl_wrong=send@1") as workers:
            answers = workers.run("nccl_pairs")
        for answer in answers:
            self.assertEqual(answer["status"], "wrong")
            self.assertIn("rank 1 of 2 (node1 gpu0) to rank 0 of 2 (node0 gpu0): 1 of", answer["reason"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
