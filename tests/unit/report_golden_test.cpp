// What is written, byte for byte. FLEETBENCH_UPDATE_GOLDEN=1 writes the files anew; read the diff.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "harness/report/baseline_text.hpp"
#include "harness/report/collectives_table.hpp"
#include "harness/report/pair_matrix.hpp"
#include "harness/report/report.hpp"
#include "results-schema/check.hpp"
#include "tests/unit/baseline_example.hpp"
#include "tests/unit/collectives_run.hpp"
#include "tests/unit/pairs_run.hpp"

namespace fleetbench {
namespace {

Subject node_named(const std::string& name) {
  Subject subject;
  subject.kind = "node";
  subject.node = name;
  return subject;
}

Finding wrong_result() {
  Finding finding;
  finding.rank = 1;
  finding.subject = node_named("node5");
  finding.direction = Direction::wrong;
  finding.status = FindingStatus::confirmed;
  finding.layer = Layer::host;
  finding.p_value = 0;
  finding.evidence = {
      {"cpu_gemm gave a wrong result in 1 of 5 passes: row 3 is false", "cpu_gemm"}};
  finding.next_check =
      "Take it out of service: a wrong result means that memory, a CPU or a link "
      "corrupts data. Look for machine checks and ECC errors, then run a memory "
      "test.";
  return finding;
}

Finding slow_host() {
  Finding finding;
  finding.rank = 2;
  finding.subject = node_named("node2");
  finding.status = FindingStatus::suspect;
  finding.layer = Layer::host;
  finding.slowdown_pct = 298.3;
  finding.ci_low_pct = 290.2;
  finding.ci_high_pct = 304.9;
  finding.p_value = 7.4e-8;
  finding.metrics = {{"cpu_gemm.fp64", "FLOP/s", 42.2e9, 168.1e9, 298.3},
                     {"host_memory.triad", "B/s", 5.26e9, 20.8e9, 295.4}};
  finding.cause = "out of its CPU quota 35 times (others none)";
  finding.evidence = {{"slower than the median of its peers in 5 of 5 passes", "cpu_gemm"},
                      {finding.cause, "telemetry",
                       ReadingEvidence{"evidence.rises.cpu_quota_throttles", 35, 0, ""}},
                      {"cpu.cpu_quota_cores is 0.5, 7 of 8 nodes have none", "inventory"}};
  finding.next_check =
      "Quotas and limits of the job's cgroup (`cpu.max`), clocks under load "
      "(`turbostat`), temperatures.";
  return finding;
}

Finding slow_link() {
  Finding finding;
  finding.rank = 3;
  finding.subject.kind = "link";
  finding.subject.a = "node0";
  finding.subject.b = "bad\x1b[31m\nname\xff";
  finding.subject.directed = true;
  finding.status = FindingStatus::tentative;
  finding.layer = Layer::network;
  finding.slowdown_pct = 24.6;
  finding.ci_low_pct = 18.2;
  finding.ci_high_pct = 31.3;
  finding.p_value = 0.004;
  finding.metrics = {{"mpi_pairs.bandwidth", "B/s", 760e6, 947e6, 24.6}};
  finding.evidence = {{"24 % slower than its two ends lead one to expect", ""}};
  return finding;
}

Finding explained() {
  Finding finding = slow_host();
  finding.rank = 4;
  finding.layer = Layer::network;
  finding.slowdown_pct = 201;
  finding.ci_low_pct = 184;
  finding.ci_high_pct = 220;
  finding.explained_by = 2;
  return finding;
}

Finding group_missing() {
  Finding finding;
  finding.rank = 5;
  finding.subject.kind = "group";
  for (int i = 0; i < 10; ++i) {
    finding.subject.nodes.push_back("node" + std::to_string(i));
  }
  finding.direction = Direction::missing;
  finding.status = FindingStatus::not_reproduced;
  finding.layer = Layer::storage;
  return finding;
}

Finding fast() {
  Finding finding;
  finding.rank = 6;
  finding.subject = node_named("node7");
  finding.direction = Direction::fast;
  finding.status = FindingStatus::tentative;
  finding.layer = Layer::host;
  finding.slowdown_pct = -40;
  finding.ci_low_pct = -43;
  finding.ci_high_pct = -37;
  finding.p_value = 0.001;
  return finding;
}

Finding slow_rail() {
  Finding finding;
  finding.rank = 7;
  finding.subject.kind = "rail";
  finding.subject.node = "node3";
  finding.subject.rail = "gpu1";
  finding.layer = Layer::network;
  finding.slowdown_pct = 98;
  finding.ci_low_pct = 95;
  finding.ci_high_pct = 101;
  finding.p_value = 0.002;
  finding.counts = Counts{8, 8, 1, 123};
  return finding;
}

Report rich_report() {
  Report report;
  report.run_id = "20240501-120000-abcd";
  report.suite = "quick";
  report.verdict = Verdict::fail;
  report.verdict_reasons = {"node5 computes or delivers wrong results (host)",
                            "node2 is 4.0 times as slow as its peers in host (suspect)",
                            "the run was interrupted: SIGTERM"};
  report.findings = {wrong_result(),  slow_host(), slow_link(), explained(),
                     group_missing(), fast(),      slow_rail()};
  report.configuration = {
      {"node2: cpu.cpu_quota_cores is 0.5, 7 of 8 nodes have none", "inventory"}};
  report.metrics = {{"cpu_gemm.fp64", "FLOP/s", Layer::host, SubjectKind::node, 8, 168.1e9, 42.2e9,
                     170.3e9, true, 1.2, 0.8, 8.25},
                    {"mpi_pairs.bandwidth", "B/s", Layer::network, SubjectKind::link, 56, 947e6,
                     760e6, 986e6, true, 2.25, 3, 16.4},
                    {"mpi_collectives.all_reduce", "s", Layer::network, SubjectKind::group, 1,
                     23.1e-6, 23.1e-6, 23.1e-6, true, 0, 5.5, std::nullopt}};
  MetricSummary idle{
      "image_decode.idle_share", "1", Layer::input, SubjectKind::node, 8, 0.016, 0, 0.5};
  idle.judged = false;
  report.metrics.push_back(idle);
  report.gpus = {{"NVIDIA H100 80GB HBM3", 32}, {"NVIDIA H200", 32}};
  report.not_measured = {{"gpu_gemm", "no node has a GPU"},
                         {"storage", "fio is not installed"},
                         {"gpu_memory", "no node has a GPU"},
                         {"token_pack on node3", "no \"tokenizer\""}};
  report.blocks = {
      {"mpi_pairs.bandwidth", "B/s", {{"node0", "node1"}, {"node2", "node3"}}, 947e6, 560e6}};
  report.notes = {"mpi_pairs: with 3 nodes a slow node cannot be told from slow links"};
  report.nodes = 8;
  report.ranks = 16;
  report.lost_nodes = {"node6"};
  report.time = TimeShares{83.4, 12.51, 62.55};
  report.waiting = WaitingCost{16, 0.0021, 31.5e6};
  return report;
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(FLEETBENCH_SOURCE_DIR) + "/tests/golden/" + name;
  const char* update = std::getenv("FLEETBENCH_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::ostringstream expected;
  expected << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(text, expected.str()) << path;
}

TEST(ReportGolden, Text) { expect_golden("report.txt", summary_text(rich_report(), {false, 90})); }

TEST(ReportGolden, ColouredText) {
  expect_golden("report-colour.txt", summary_text(rich_report(), {true, 90}));
}

TEST(ReportGolden, Json) { expect_golden("report.json", report_json(rich_report())); }

TEST(ReportGolden, Prometheus) { expect_golden("report.prom", prometheus_text(rich_report())); }

TEST(ReportGolden, Collectives) {
  expect_golden("collectives.txt", collectives_table(collectives_run()));
}

TEST(ReportGolden, Pairs) { expect_golden("pairs.txt", pair_matrices_text(pairs_run())); }

TEST(BaselineGolden, Text) { expect_golden("baseline.txt", baseline_text(example_baseline())); }

TEST(BaselineGolden, Json) { expect_golden("baseline.json", baseline_json(example_baseline())); }

TEST(ReportJson, IsValidAndSurvives) {
  for (const Report& report : {rich_report(), Report{}}) {
    const Json json = Json::parse(report_json(report));
    EXPECT_EQ(check_against(json, schema_named("report")), std::vector<std::string>());
    const Report back = report_from_json(json);
    EXPECT_EQ(Json::parse(report_json(back)), json);
    EXPECT_EQ(summary_text(back).size() > 10, true);
  }
}

TEST(ReportJson, SubjectsHaveOnlyTheKeysThatApply) {
  const Json json = to_json(rich_report());
  EXPECT_EQ(json.at("findings")[0].at("subject"), (Json{{"kind", "node"}, {"node", "node5"}}));
  EXPECT_EQ(json.at("findings")[2].at("subject").size(), 4U);
  EXPECT_EQ(json.at("findings")[1].at("ci_pct"), Json({290.2, 304.9}));
  EXPECT_TRUE(json.at("findings")[1].at("explained_by").is_null());
  EXPECT_EQ(json.at("findings")[3].at("explained_by"), 2);
}

TEST(ReportJson, RefusesWhatIsNoReport) {
  struct Case {
    const char* pointer;
    Json value;
    const char* message;
  };
  const Case cases[] = {
      {"/schema", "fleetbench-report/9.0",
       "schema is not fleetbench-report/1.…, which this build reads: \"fleetbench-report/9.0\""},
      {"/verdict", "MAYBE", "verdict: \"MAYBE\" is none of PASS, WARN, FAIL, INCONCLUSIVE"},
      {"/findings/1/ci_pct", {1}, "findings[1].ci_pct is not an array of two numbers: [1]"},
      {"/findings/0/rank", 0, "findings[0].rank is not a whole number from 1: 0"},
      {"/fleet/lost", {1}, "fleet.lost is not an array of texts: [1]"},
      {"/metrics/0/layer", "cellar",
       "metrics[0].layer: layer \"cellar\" is none of host, storage, input, copy, compute, fabric, "
       "network, step"},
  };
  for (const Case& c : cases) {
    Json json = Json::parse(report_json(rich_report()));
    json[Json::json_pointer(c.pointer)] = c.value;
    try {
      report_from_json(json);
      ADD_FAILURE() << c.pointer;
    } catch (const std::invalid_argument& error) {
      EXPECT_STREQ(error.what(), c.message);
    }
    EXPECT_NE(check_against(json, schema_named("report")), std::vector<std::string>()) << c.pointer;
  }
}

}  // namespace
}  // namespace fleetbench
