// What network ports counted as evidence of a finding, and as a finding of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "harness/detect/detect.hpp"
#include "tests/unit/detect_simulation.hpp"

namespace fleetbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kNodes = 8;
constexpr int kPasses = 4;
constexpr int kBad = 3;

Json ordinary() {
  Json rises;
  for (const char* kind :
       {"nic_errors", "nic_drops", "nic_port_errors", "nic_port_drops", "link_losses", "ib_errors",
        "ib_discards", "rdma_errors", "tcp_retransmits", "tcp_timeouts"}) {
    rises[kind] = 0;
  }
  return {{"evidence",
           {{"rises", rises},
            {"rates", {{"pause_received", 0}, {"port_xmit_wait", 0}}},
            {"link_gbit", {{"eth0", 25}, {"mlx5_0:1", 400}}},
            {"link_lanes", {{"mlx5_0:1", 4}}}}}};
}

// node3 takes 1.5 times as long in a step of the network, or as long as all.
RunData fleet(bool slow, int nodes = kNodes) {
  RunData run;
  run.header = header_of(nodes);
  StepRecord step = host_step(0, "exchange", "s");
  step.metrics = {{.name = "time", .unit = "s", .better = Better::lower, .layer = Layer::network}};
  run.steps = {step};
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (int node = 0; node < nodes; ++node) {
      const double factor = slow && node == kBad ? 1.5 : 1;
      SampleRecord sample = sample_of(0, pass, node, {factor * std::exp(0.01 * normal(random))});
      sample.slot = pass;
      sample.detail = ordinary();
      run.samples.push_back(std::move(sample));
    }
  }
  run.end = clean_end();
  return run;
}

using Change = std::function<void(Json& evidence, const SampleRecord& sample)>;

void change(RunData& run, const Change& change) {
  for (SampleRecord& sample : run.samples) {
    change(sample.detail["evidence"], sample);
  }
}

void set(RunData& run, int node, const std::string& path, const Json& value) {
  change(run, [&](Json& evidence, const SampleRecord& sample) {
    if (sample.node == node) {
      evidence[Json::json_pointer(path)] = value;
    }
  });
}

Finding only_finding(const RunData& run) {
  const Report report = analyze(run);
  EXPECT_EQ(report.findings.size(), 1U);
  return report.findings.empty() ? Finding() : report.findings.front();
}

std::vector<std::string> told(const RunData& run) {
  std::vector<std::string> texts;
  for (const Evidence& evidence : only_finding(run).evidence) {
    if (evidence.source == "telemetry") {
      texts.push_back(evidence.text);
    }
  }
  return texts;
}

TEST(NetworkReadings, AreSilentWhereAllAreAlike) {
  EXPECT_THAT(told(fleet(true)), IsEmpty());
  EXPECT_THAT(analyze(fleet(false)).findings, IsEmpty());
}

TEST(NetworkReadings, ALinkIsComparedWithThoseOfTheSameName) {
  RunData run = fleet(true);
  set(run, kBad, "/link_gbit/mlx5_0:1", 100);
  set(run, kBad, "/link_lanes/mlx5_0:1", 1);
  EXPECT_THAT(told(run), ElementsAre("link of mlx5_0:1: 100 Gbit/s (others 400 Gbit/s)",
                                     "link of mlx5_0:1: 1 lanes (others 4)"));
  EXPECT_THAT(only_finding(run).cause, HasSubstr("100 Gbit/s (others 400 Gbit/s)"));
  set(run, kBad, "/link_gbit/mlx5_0:1", 400);
  set(run, kBad, "/link_lanes/mlx5_0:1", 4);
  set(run, kBad, "/link_gbit/eth0", 0);
  EXPECT_THAT(told(run), ElementsAre("link of eth0: down (others 25 Gbit/s)"));
}

TEST(NetworkReadings, APortOfAnotherNameIsNothingUnread) {
  RunData run = fleet(true);
  set(run, kBad, "/link_gbit", {{"eno1", 25}, {"mlx5_0:1", 400}});
  EXPECT_THAT(told(run), IsEmpty());
  set(run, kBad, "/link_gbit", Json::object());
  EXPECT_THAT(told(run), ElementsAre("link speeds could not be read, the others' were"));
}

TEST(NetworkReadings, CountersNameThePortThatHasMost) {
  RunData run = fleet(true);
  set(run, kBad, "/rises/ib_errors", 7);
  set(run, kBad, "/rises/nic_drops", 5);
  set(run, kBad, "/where",
      {{"ib_errors", {{"mlx5_0:1 link_downed", 1}, {"mlx5_0:1 symbol_error", 6}}}});
  EXPECT_THAT(
      told(run),
      ElementsAre(
          "28 errors on links of its InfiniBand ports (mlx5_0:1 symbol_error) (others none)",
          "20 packets were dropped at its network interfaces (others none)"));
}

TEST(NetworkReadings, RatesAreToldWhereOthersHaveNone) {
  RunData run = fleet(true);
  set(run, kBad, "/rates/pause_received", 0.0021);
  set(run, kBad, "/where", {{"pause_received", {{"eth0", 0.0021}}}});
  set(run, kBad, "/rates/port_xmit_wait", 3.25);
  EXPECT_THAT(told(run),
              ElementsAre("its port had to wait with what it had to send: 3.25 ticks per "
                          "4 bytes sent (others none)",
                          "its switch told it to pause 2.1 times per 1,000 packets sent "
                          "(eth0) (others none)"));
  const Finding finding = only_finding(run);
  const auto& reading = finding.evidence.back().reading;
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->what, "evidence.rates.pause_received");
  EXPECT_EQ(reading->value, 0.0021);
  EXPECT_EQ(reading->unit, "per packet sent");
}

TEST(NetworkReadings, RatesThatAllHaveAreComparedByFactor) {
  for (const double scale : {1e-5, 1.0}) {
    RunData run = fleet(true);
    change(run, [&](Json& evidence, const SampleRecord& sample) {
      evidence["rates"]["port_xmit_wait"] = scale * (1 + 0.2 * ((sample.node + sample.pass) % 4));
    });
    EXPECT_THAT(told(run), IsEmpty()) << scale;
    set(run, kBad, "/rates/port_xmit_wait", 3 * scale);
    EXPECT_THAT(told(run), IsEmpty()) << scale;
    set(run, kBad, "/rates/port_xmit_wait", 200 * scale);
    EXPECT_EQ(told(run).size(), 1U) << scale;
  }
}

// Errors of node3 in so many slots, of `others` other nodes in all.
RunData erring(const std::string& kind, int slots, int others = 0, bool slow = false) {
  RunData run = fleet(slow);
  change(run, [&](Json& evidence, const SampleRecord& sample) {
    const bool errs = sample.node == kBad ? sample.pass < slots : sample.node < others;
    if (errs) {
      evidence["rises"][kind] = 2;
      evidence["where"][kind] = {{"mlx5_0:1 counter", 2}};
    }
  });
  return run;
}

TEST(PortErrors, ThatGoOnRisingWarnHoweverFastTheNode) {
  const Report report = analyze(erring("ib_errors", 2));
  ASSERT_EQ(report.findings.size(), 1U);
  const Finding& finding = report.findings.front();
  EXPECT_EQ(describe(finding.subject), "node3 mlx5_0:1");
  EXPECT_EQ(finding.direction, Direction::wrong);
  EXPECT_EQ(finding.status, FindingStatus::tentative);
  EXPECT_EQ(finding.layer, Layer::network);
  EXPECT_THAT(finding.next_check, HasSubstr("ibqueryerrors"));
  EXPECT_EQ(report.verdict, Verdict::warn);
  EXPECT_THAT(report.verdict_reasons,
              ElementsAre("node3 mlx5_0:1: 4 errors on links of its InfiniBand ports "
                          "(mlx5_0:1 counter) (others none)"));
}

TEST(PortErrors, OfOneSlotAreChanceButALostLinkIsNot) {
  for (const char* kind : {"ib_errors", "nic_errors", "nic_port_errors"}) {
    EXPECT_THAT(analyze(erring(kind, 1)).findings, IsEmpty()) << kind;
    EXPECT_EQ(analyze(erring(kind, 2)).verdict, Verdict::warn) << kind;
  }
  EXPECT_EQ(analyze(erring("link_losses", 1)).verdict, Verdict::warn);
}

TEST(PortErrors, AreNotWhatMostHaveNorDropsAndRetransmits) {
  EXPECT_EQ(analyze(erring("ib_errors", 4, 2)).findings.size(), 3U);
  EXPECT_THAT(analyze(erring("ib_errors", 4, 8)).findings, IsEmpty());
  EXPECT_THAT(analyze(erring("ib_errors", 4, 7)).findings, IsEmpty());
  for (const char* kind : {"nic_drops", "nic_port_drops", "rdma_errors", "ib_discards",
                           "tcp_retransmits", "tcp_timeouts"}) {
    EXPECT_THAT(analyze(erring(kind, 4)).findings, IsEmpty()) << kind;
  }
}

TEST(PortErrors, AreEvidenceWhereTheNodeIsFoundAnyway) {
  const RunData run = erring("ib_errors", 4, 0, true);
  EXPECT_EQ(only_finding(run).direction, Direction::slow);
  EXPECT_EQ(told(run).size(), 1U);
}

TEST(PortErrors, ComeAfterWhatIsSlow) {
  RunData run = fleet(true);
  set(run, 5, "/rises/ib_errors", 2);
  set(run, 5, "/where/ib_errors", {{"mlx5_0:1 symbol_error", 2}});
  const Report report = analyze(run);
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].direction, Direction::slow);
  EXPECT_EQ(describe(report.findings[1].subject), "node5 mlx5_0:1");
}

TEST(PortErrors, OfSeveralPortsAreTheNodes) {
  RunData run = fleet(false);
  set(run, kBad, "/rises/nic_errors", 2);
  set(run, kBad, "/where/nic_errors", {{"eth0 rx_errors", 1}, {"eth1 rx_errors", 1}});
  EXPECT_EQ(describe(only_finding(run).subject), "node3");
}

TEST(PortErrors, OfOddShapesAreHarmless) {
  for (const Json& where : {Json(3), Json::array({1}), Json{{"ib_errors", 3}},
                            Json{{"ib_errors", {{"", "x"}}}}, Json{{"link_losses", {{" ", 1}}}}}) {
    RunData run = fleet(false);
    set(run, kBad, "/where", where);
    EXPECT_THAT(analyze(run).findings, IsEmpty()) << where.dump();
  }
}

}  // namespace
}  // namespace fleetbench
