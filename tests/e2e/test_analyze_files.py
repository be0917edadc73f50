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

    def test_what_is_not_read_ends_with_64(self):
        for text, message in [
            ("Dear all,\n", 'begins with "Dear all,"'),
            ("", "is empty"),
            ("# nThread 1 nGpus 8\n", "looks like a log of nccl-tests, which is not yet read"),
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
