"""`fleetbench analyze FILE...`: samples that another tool measured."""
import json
import random
import unittest

from fleetbench_process import FLEETBENCH, FleetbenchTest, execute

SLOW = "n07"


def fleet(spread=0.002, slowdown=1.2, nodes=16, passes=6):
    """(node, pass, time), where one node takes longer."""
    chance = random.Random(3)
    level = {f"n{i:02}": chance.gauss(1, spread) for i in range(nodes)}
    level[SLOW] *= slowdown
    for k in range(passes):
        for node, expected in level.items():
            yield node, k, 0.4 * expected * chance.gauss(1, spread)


def nccl_log(nodes, rows):
    """What alltoall_perf prints of one GPU on each node, for sizes in bytes and GB/s."""
    text = "# Collective test starting: alltoall_perf\n# nThread 1 nGpus 1 minBytes 8 maxBytes 8\n#\n# Using devices\n"
    for rank, node in enumerate(nodes):
        text += f"#  Rank  {rank} Group  0 Pid   7 on {node:>10} device  0 [0000:1b:00] NVIDIA H100\n"
    columns = "   time   algbw   busbw  #wrong  "
    text += "#\n#       size         count      type   redop    root  " + 2 * columns + "\n"
    for size, busbw in rows:
        figure = f"  {size / busbw / 2e3:7.2f}  {2 * busbw:6.2f}  {busbw:6.2f}"
        text += f"{size:12}  {size // 8:12}     float    none      -1{figure}       0{figure}     N/A\n"
    average = sum(busbw for _, busbw in rows) / len(rows)
    return text + f"# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {average:g} \n#\n"


class AnalyzeFiles(FleetbenchTest):
    def written(self, name, text):
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def csv(self, name="samples.csv", rows=None, extra=""):
        lines = [f"{node},step_time,{time:.6f},s,{k}" for node, k, time in rows or fleet()]
        return self.written(name, "node,metric,value,unit,pass\n" + "\n".join(lines) + "\n" + extra)

    def analyze(self, *arguments):
        return execute([FLEETBENCH, "analyze", *arguments], cwd=self.directory)

    def report_of(self, *files):
        result = self.analyze(*files, "--json")
        self.assertIn(result.code, (0, 2, 3), result.err)
        self.assertEqual(result.err, "")
        return json.loads(result.out)

    def assert_names_the_slow_one(self, report, metric):
        first = report["findings"][0]
        self.assertEqual(first["subject"]["node"], SLOW)
        self.assertEqual(first["direction"], "slow")
        self.assertEqual(first["metrics"][0]["metric"], metric)
        self.assertAlmostEqual(first["slowdown_pct"], 20, delta=3)

    def test_a_csv_names_the_slow_node(self):
        path = self.csv()
        self.assert_names_the_slow_one(self.report_of(path), "step_time")
        shown = self.analyze(path)
        self.assertIn(f"{SLOW} is 2", shown.out)
        self.assertIn("samples.csv on 16 nodes\n", shown.out)
        self.assertNotIn("Run directory", shown.out)
        self.assertNotIn("rank", shown.out)

    def test_rows_in_any_order_change_nothing(self):
        rows = list(fleet())
        random.Random(1).shuffle(rows)
        self.assert_names_the_slow_one(self.report_of(self.csv(rows=rows)), "step_time")

    def test_superbench_results_name_the_slow_node_and_what_failed(self):
        lines = {}
        for node, k, time in fleet():
            line = lines.setdefault(node, {"node": node, "bert_models/return_code:0": 0})
            line[f"bert_models/{k}/step_time:0"] = time
        lines["n03"] = {"node": "n03", "bert_models/return_code:0": 124}
        path = self.written("results-summary.jsonl", "".join(json.dumps(line) + "\n" for line in lines.values()))
        report = self.report_of(path)
        self.assertEqual(report["verdict"], "FAIL")
        missing = [finding["subject"]["node"] for finding in report["findings"] if finding["direction"] == "missing"]
        self.assertEqual(missing, ["n03"])
        slow = [finding["subject"]["node"] for finding in report["findings"] if finding["direction"] == "slow"]
        self.assertEqual(slow, [SLOW])
        self.assertIn("KILLED_BY_TIMEOUT", json.dumps(report["findings"]))

    def test_a_broken_line_is_named_with_its_place_and_the_rest_is_analysed(self):
        path = self.csv(extra="n00,step_time,fast,s,7\n")
        shown = self.analyze(path)
        self.assertIn(f"{SLOW} is 2", shown.out)
        self.assertIn("samples.csv:98: step_time on n00: value \"fast\" is not a finite number", " ".join(shown.out.split()))
        broken = self.written("r.jsonl", '{"node": "a", "m/x_bw": 1}\n{"node": "b", "m/x_\n')
        self.assertIn("r.jsonl:2: ", " ".join(self.analyze(broken).out.split()))

    def test_healthy_nodes_are_not_blamed_but_damage_is_no_pass(self):
        healthy = list(fleet(slowdown=1))
        self.assertEqual(self.report_of(self.csv(rows=healthy))["findings"], [])
        damaged = self.report_of(self.csv("damaged.csv", healthy, "n00,step_time\n"))
        self.assertEqual(damaged["verdict"], "INCONCLUSIVE")
        self.assertIn("damaged.csv:98: ", json.dumps(damaged["verdict_reasons"]))

    def test_several_files_make_one_run(self):
        rows = list(fleet())
        first = self.csv("1.csv", [row for row in rows if row[1] < 3])
        second = self.csv("2.csv", [(node, k - 3, time) for node, k, time in rows if k >= 3])
        together = self.report_of(first, second)
        whole = self.report_of(self.csv("all.csv", rows))
        self.assertEqual(together["metrics"], whole["metrics"])
        self.assertEqual(together["findings"], whole["findings"])

    def logs(self, slow=("n2", "n5"), nodes=6):
        """One log of nccl-tests for each pair, with two runs, of which one pair is slow."""
        chance = random.Random(5)
        for i in range(nodes):
            for j in range(i + 1, nodes):
                pair = (f"n{i}", f"n{j}")
                text = ""
                for _ in range(2):
                    level = chance.gauss(1, 0.002) * (20.0 if pair != slow else 10.0)
                    text += nccl_log(pair, [(size, level) for size in (1 << 20, 1 << 24)])
                yield self.written(f"{pair[0]}-{pair[1]}.log", text)

    def test_logs_of_nccl_tests_name_the_slow_link(self):
        report = self.report_of(*self.logs())
        subjects = [finding["subject"] for finding in report["findings"]]
        self.assertEqual([(s["kind"], s["a"], s["b"]) for s in subjects], [("link", "n2", "n5")])
        self.assertEqual(report["run_id"], f"{self.directory}/n0-n1.log and 14 more files")

    def test_a_pair_whose_test_failed_is_missing(self):
        logs = list(self.logs(slow=None))
        log = self.directory / "n0-n1.log"
        head = log.read_text(encoding="utf-8").split("#\n#  ")[0]
        log.write_text(head + "n1: Test NCCL failure common.cu:401 'unhandled system error'\n", encoding="utf-8")
        report = self.report_of(*logs)
        self.assertEqual([(f["direction"], f["subject"]["kind"]) for f in report["findings"]], [("missing", "link")])
        self.assertIn("unhandled system error", json.dumps(report["findings"]))

    def test_switches_are_matched_with_the_nodes(self):
        good = self.written("topology.conf", "SwitchName=leaf1 Nodes=n[0-2]\nSwitchName=leaf2 Nodes=n[3-4],n[7-9]\n")
        shown = " ".join(self.analyze(*self.logs(), "--topology", good).out.split())
        self.assertIn("topology: no switch is known for n5", shown)
        self.assertIn("topology.conf: names 3 nodes that took no part in this run", shown)
        bad = self.written("bad.conf", "SwitchName=leaf1 Nodes=n[0-2\n\nNodes=n3\n")
        result = self.analyze(*self.logs(), "--topology", bad)
        self.assertEqual((result.code, result.out), (64, ""))
        self.assertIn("bad.conf:1: ", result.err)
        self.assertIn("bad.conf:3: the line has no SwitchName=NAME", result.err)
        other = self.written("other.conf", "SwitchName=leaf1 Nodes=x[0-2]\n")
        shown = " ".join(self.analyze(*self.logs(), "--topology", other).out.split())
        self.assertIn("other.conf: names none of the nodes of this run, as n0; it is not used", shown)

    def test_what_is_not_read_ends_with_64(self):
        for text, message in [
            ("Dear all,\n", 'begins with "Dear all,"'),
            ("", "is empty"),
            ("# nThread 1 nGpus 8\n", "x:1: the run has no row and no end; no sample could be read"),
            ("node,metric,val\na,t,1\n", "column value is missing; there are: node, metric, val"),
            ("\x1b]0;x\x07{}\n", "\\x1b"),
        ]:
            with self.subTest(text=text):
                result = self.analyze(self.written("x", text))
                self.assertEqual(result.code, 64, result.out)
                self.assertIn(message, result.err)
                self.assertEqual(result.out, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
