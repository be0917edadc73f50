#include <gtest/gtest.h>

#include "harness/detect/configuration.hpp"
#include "harness/detect/detect.hpp"
#include "tests/unit/detect_simulation.hpp"

namespace fleetbench::detect {
namespace {

Json ordinary() {
  return {{"hostname", "h"},
          {"cpu", {{"model", "EPYC"}, {"cpu_quota_cores", nullptr}, {"flags", {"avx2", "fma"}}}},
          {"memory", {{"total_bytes", 1000000000}, {"available_bytes", 5}}},
          {"kernel", {{"release", "6.1"}, {"boot_id", "x"}, {"modules", {{"nvidia", "535"}}}}},
          {"nics",
           {{{"name", "eth0"}, {"mtu", 1500}, {"mac", "a"}, {"speed_mbit", 10000}},
            {{"name", "ib0"}, {"mtu", 4092}, {"mac", "b"}}}},
          {"infiniband_ports",
           {{{"device", "mlx5_0"}, {"port", 1}, {"rate_gbit", 400}},
            {{"device", "mlx5_0"}, {"port", 2}, {"rate_gbit", 400}}}}};
}

std::vector<NodeInfo> fleet(int count) {
  std::vector<NodeInfo> nodes = header_of(count).nodes;
  for (NodeInfo& node : nodes) {
    node.inventory = ordinary();
    node.inventory["hostname"] = node.name;
    node.inventory["kernel"]["boot_id"] = node.boot_id;
    node.inventory["memory"]["available_bytes"] = 17 * node.index;
    node.inventory["nics"][0]["mac"] = node.name;
  }
  return nodes;
}

void set(NodeInfo& node, const char* pointer, const Json& value) {
  Json inventory = node.inventory.json();
  inventory[Json::json_pointer(pointer)] = value;
  node.inventory = inventory;
}

std::vector<std::string> texts(const std::vector<Difference>& differences) {
  std::vector<std::string> result;
  for (const Difference& difference : differences) {
    result.push_back(difference.text);
  }
  return result;
}

TEST(Configuration, WhatDiffersByNatureIsNoDifference) {
  EXPECT_TRUE(differences(fleet(4)).empty());
  EXPECT_TRUE(differences({}).empty());
}

TEST(Configuration, WhatProbesFoundIsComparedToo) {
  RunData run = simulate({}, 3);
  run.header.nodes = fleet(5);  // of the last one nothing is known
  for (SampleRecord& sample : run.samples) {
    if (sample.step == 0) {
      sample.detail["facts"] = {{"fs_type", sample.node == 1 ? "overlay" : "xfs"}};
    }
  }
  run.header.nodes[3].inventory = nullptr;
  std::erase_if(run.samples, [](const auto& sample) { return sample.node == 4; });
  const auto found = differences(with_probe_facts(run));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].node, 1);
  EXPECT_EQ(found[0].text,
            "probes." + run.steps[0].id + ".fs_type is overlay, 2 of 3 nodes have xfs");
  run.steps[0].sampled = true;
  EXPECT_TRUE(differences(with_probe_facts(run)).empty());
}

TEST(Configuration, WhatAProbeFoundOnceCountsAndOfTheRestTheLast) {
  RunData run = simulate({}, 3);
  run.header.nodes = fleet(4);
  for (SampleRecord& sample : run.samples) {
    if (sample.step == 0) {
      sample.detail["facts"] = {{"driver", sample.node == 2 && sample.pass == 4 ? "2" : "1"}};
    }
    if (sample.step == 0 && sample.pass == 0) {
      sample.detail["facts"]["network"] = sample.node == 1 ? "Socket" : "IB";
    }
  }
  const std::string step = "probes." + run.steps[0].id;
  EXPECT_EQ(texts(differences(with_probe_facts(run))),
            (std::vector<std::string>{step + ".network is Socket, 3 of 4 nodes have IB",
                                      step + ".driver is 2, 3 of 4 nodes have 1"}));
}

TEST(Configuration, NamesTheOddOneAndWhatMostHave) {
  struct Case {
    const char* pointer;
    Json value;
    const char* text;
  };
  const Case cases[] = {
      {"/cpu/cpu_quota_cores", 0.5, "cpu.cpu_quota_cores is 0.5, 3 of 4 nodes have none"},
      {"/cpu/model", "Xeon", "the only node of its kind: cpu is Xeon, 3 of 4 nodes have EPYC"},
      {"/cpu/flags", Json{"fma"}, "cpu.flags is [\"fma\"], 3 of 4 nodes have [\"avx2\",\"fma\"]"},
      {"/memory/total_bytes", 500000000,
       "memory.total_bytes is 500000000, 3 of 4 nodes have 1000000000"},
      {"/nics/0/mtu", 9000, "nics[eth0].mtu is 9000, 3 of 4 nodes have 1500"},
      {"/infiniband_ports/1/rate_gbit", 100,
       "infiniband_ports[mlx5_0:2].rate_gbit is 100, 3 of 4 nodes have 400"},
      {"/kernel/modules/nvidia", "470", "kernel.modules.nvidia is 470, 3 of 4 nodes have 535"},
  };
  for (const Case& c : cases) {
    std::vector<NodeInfo> nodes = fleet(4);
    set(nodes[2], c.pointer, c.value);
    const std::vector<Difference> found = differences(nodes);
    ASSERT_EQ(found.size(), 1U) << c.pointer;
    EXPECT_EQ(found[0].node, 2);
    EXPECT_EQ(found[0].text, c.text);
  }
}

TEST(Configuration, SmallDifferencesOfSizesDoNotCount) {
  std::vector<NodeInfo> nodes = fleet(4);
  nodes[1].inventory["memory"]["total_bytes"] = 1000000000 - 5000000;
  EXPECT_TRUE(differences(nodes).empty());
}

TEST(Configuration, AMissingDeviceIsOneDifferenceAndAnExtraOneNone) {
  std::vector<NodeInfo> nodes = fleet(4);
  nodes[3].inventory["nics"].erase(1);
  nodes[0].inventory["nics"].push_back({{"name", "veth0"}, {"mtu", 1400}});
  EXPECT_EQ(texts(differences(nodes)),
            std::vector<std::string>{"nics[ib0] is missing, 3 of 4 nodes have it"});
}

TEST(Configuration, NeedsAMajorityOfThreeNodes) {
  std::vector<NodeInfo> two = fleet(2);
  two[0].inventory["cpu"]["model"] = "Xeon";
  EXPECT_TRUE(differences(two).empty());
  std::vector<NodeInfo> halves = fleet(4);
  halves[0].inventory["cpu"]["model"] = halves[1].inventory["cpu"]["model"] = "Xeon";
  EXPECT_TRUE(differences(halves).empty());
  std::vector<NodeInfo> untaken = fleet(4);
  untaken[0].inventory = nullptr;
  EXPECT_TRUE(differences(untaken).empty()) << "an inventory that is not there differs in nothing";
}

TEST(Configuration, TheListIsLimitedToTheRarestAndSaysSo) {
  std::vector<NodeInfo> nodes = fleet(7);
  for (int i = 0; i < 60; ++i) {
    nodes[0].inventory["kernel"]["modules"]["m" + std::to_string(i)] = 1;
    nodes[1].inventory["kernel"]["modules"]["m" + std::to_string(i)] = 1;
  }
  nodes[5].inventory["nics"][0]["mtu"] = 9000;
  const auto found = differences(nodes);
  EXPECT_EQ(found.size(), 121U) << "evidence may need any of them";
  EXPECT_EQ(found[0].alike, 2U);
  EXPECT_EQ(found.back().alike, 1U);
  Report report;
  list_differences(found, nodes, report);
  ASSERT_EQ(report.configuration.size(), kMostDifferences);
  EXPECT_EQ(report.configuration.back().text,
            "node5: nics[eth0].mtu is 9000, 6 of 7 nodes have 1500");
  EXPECT_EQ(report.notes, std::vector<std::string>{
                              "121 settings of 3 nodes differ from those of most nodes: the 50 "
                              "rarest are listed"});
  Report few;
  list_differences({found.back()}, nodes, few);
  EXPECT_EQ(few.configuration.size(), 1U);
  EXPECT_TRUE(few.notes.empty());
}

TEST(Configuration, EvidenceOfOneNodeIsLimited) {
  std::vector<NodeInfo> nodes = fleet(4);
  for (int i = 0; i < 15; ++i) {
    nodes[1].inventory["cpu"]["setting" + std::to_string(i)] = 1;
  }
  std::vector<Finding> findings(1);
  findings[0].subject.kind = "node";
  findings[0].subject.node = "node1";
  findings[0].layer = Layer::host;
  add_as_evidence(differences(nodes), nodes, findings);
  ASSERT_EQ(findings[0].evidence.size(), kMostEvidence + 1);
  EXPECT_EQ(findings[0].evidence.back().text, "5 more of its settings differ");
}

TEST(Configuration, ManySizesAreComparedByTheirNeighbours) {
  std::vector<NodeInfo> nodes = fleet(100);
  for (int i = 0; i < 100; ++i) {  // each a little larger: 60 are within 1 % of one in the middle
    const long own = i < 80 ? i * 200000L : 0;
    nodes[i].inventory["memory"]["total_bytes"] = 1000000000L + own;
  }
  nodes[99].inventory["memory"]["total_bytes"] = 500000000;
  const auto found = differences(nodes);
  ASSERT_FALSE(found.empty());
  for (const Difference& difference : found) {
    const auto bytes =
        nodes[difference.node].inventory.part("memory").at("total_bytes").get<long>();
    EXPECT_TRUE(difference.node == 99 || bytes > 1010000000) << difference.text;
  }
}

TEST(Configuration, IsThatOfTheCohort) {
  std::vector<NodeInfo> nodes = fleet(9);
  for (int i = 5; i < 9; ++i) {
    nodes[i].inventory["cpu"]["model"] = "Xeon";
    nodes[i].inventory["nics"][0]["mtu"] = 9000;  // theirs all have it
  }
  EXPECT_TRUE(differences(nodes).empty());
  nodes[6].inventory["nics"][0]["mtu"] = 1500;
  EXPECT_EQ(texts(differences(nodes)),
            std::vector<std::string>{"nics[eth0].mtu is 1500, 3 of 4 nodes have 9000"});
}

TEST(Configuration, ANamedCohortOfOneIsMeantToBe) {
  std::vector<NodeInfo> nodes = fleet(4);
  nodes[0].inventory["cpu"]["model"] = "Xeon";
  EXPECT_EQ(differences(nodes).size(), 1U);
  nodes[0].cohort = "the new one";
  EXPECT_TRUE(differences(nodes).empty());
}

TEST(Configuration, PartsThatNodesShareAreComparedAsOthers) {
  std::vector<NodeInfo> nodes = fleet(4);
  InventoryPool pool;
  for (NodeInfo& node : nodes) {
    node.inventory = pool.share(node.inventory.json());
  }
  EXPECT_EQ(&nodes[0].inventory.part("cpu"), &nodes[3].inventory.part("cpu"));
  EXPECT_NE(&nodes[0].inventory.part("nics"), &nodes[3].inventory.part("nics"));
  EXPECT_TRUE(differences(nodes).empty());
  nodes[3].inventory["cpu"]["governors"] = {"powersave"};
  EXPECT_EQ(texts(differences(nodes)),
            std::vector<std::string>{"cpu.governors is [\"powersave\"], 3 of 4 nodes have none"});
}

TEST(Configuration, OddShapesOfAnInventoryAreHarmless) {
  for (const Json& odd : {Json("text"), Json(3), Json::array(), Json::array({1, Json::object()}),
                          Json{{"nics", {nullptr, 7}}}, Json{{"cpu", "none"}}}) {
    std::vector<NodeInfo> nodes = fleet(4);
    nodes[1].inventory = odd;
    EXPECT_NO_THROW(differences(nodes));
  }
}

TEST(Configuration, IsEvidenceForItsLayersAndWarns) {
  FleetModel model;
  model.host = {{2, 4}};
  RunData run = simulate(model, 1);
  for (std::size_t i = 0; i < 4; ++i) {
    run.header.nodes[i].inventory = fleet(4)[i].inventory;
  }
  run.header.nodes[2].inventory["cpu"]["cpu_quota_cores"] = 0.5;
  run.header.nodes[2].inventory["nics"][0]["mtu"] = 9000;
  const Report report = analyze(run);
  const std::vector<Evidence>& evidence = report.findings.at(0).evidence;
  EXPECT_EQ(evidence.back().text, "cpu.cpu_quota_cores is 0.5, 3 of 4 nodes have none");
  EXPECT_EQ(evidence.back().source, "inventory");
  ASSERT_EQ(report.configuration.size(), 2U);
  EXPECT_EQ(report.configuration[0].text,
            "node2: cpu.cpu_quota_cores is 0.5, 3 of 4 nodes have none");

  RunData healthy = simulate(FleetModel{}, 1);
  healthy.header.nodes[0].inventory["cpu"]["cores"] = 4;
  const Report warned = analyze(healthy);
  EXPECT_EQ(warned.verdict, Verdict::warn);
  EXPECT_EQ(warned.verdict_reasons[0],
            "one node is set up differently: node0: cpu.cores is 4, 3 of 4 nodes have 8");
}

}  // namespace
}  // namespace fleetbench::detect
