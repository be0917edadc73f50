#include <gtest/gtest.h>

#include <algorithm>

#include "harness/detect/cohorts.hpp"
#include "tests/unit/detect_simulation.hpp"

namespace fleetbench::detect {
namespace {

Json gpus(int count, const std::string& device) {
  Json list = Json::array();
  for (int i = 0; i < count; ++i) {
    list.push_back(
        {{"address", "0000:0" + std::to_string(i)}, {"vendor", "0x10de"}, {"device", device}});
  }
  return list;
}

Json gpu_node() {
  return {{"gpus", gpus(8, "0x2330")},
          {"cpu", {{"model", "AMD EPYC 9654 96-Core Processor"}, {"sockets", 2}}},
          {"memory", {{"total_bytes", 1000}}},
          {"kernel", {{"modules", {{"nvidia", "570"}}}}},
          {"machine", {{"bios_version", "1.0"}}},
          {"pci", {{{"address", "0000:4b:00.0"}, {"vendor", "0x15b3"}, {"device", "0x1021"}}}},
          {"nics",
           {{{"name", "ib0"},
             {"virtual", false},
             {"driver", "mlx5_core"},
             {"pci_address", "0000:4b:00.0"},
             {"speed_mbit", 400000}},
            {{"name", "docker0"}, {"virtual", true}, {"speed_mbit", 800000}}}},
          {"disks", {{{"name", "nvme0n1"}, {"model", "MZWLO3T8"}, {"serial", "1"}}}}};
}

constexpr const char* kKey = "GPU 10de:2330, 2x EPYC 9654, NIC 15b3:1021, MZWLO3T8, 400 Gbit/s";

std::vector<NodeInfo> fleet(int count) {
  std::vector<NodeInfo> nodes = header_of(count).nodes;
  for (NodeInfo& node : nodes) {
    node.inventory = gpu_node();
  }
  return nodes;
}

void set(NodeInfo& node, const std::string& pointer, const Json& value) {
  Json inventory = node.inventory.json();
  inventory[Json::json_pointer(pointer)] = value;
  node.inventory = inventory;
}

TEST(Cohorts, AreNamedByTheirHardware) {
  EXPECT_EQ(cohorts_of(fleet(2)), std::vector<std::string>(2, kKey));
  EXPECT_TRUE(cohorts_of({}).empty());
  std::vector<NodeInfo> nodes = fleet(1);
  nodes[0].inventory["gpus"] = {
      {{"name", "NVIDIA H100"}, {"memory_total_bytes", 85520809984}, {"device", "0x2330"}}};
  nodes[0].inventory["cpu"]["model"] = "Intel(R) Xeon(R) Platinum 8480C CPU @ 2.00GHz";
  EXPECT_EQ(cohorts_of(nodes)[0],
            "H100 80GB, 2x Xeon Platinum 8480C, NIC 15b3:1021, MZWLO3T8, 400 Gbit/s");
}

TEST(Cohorts, WhatMayBeAFaultDefinesNone) {
  struct Case {
    const char* what;
    const char* pointer;
    Json value;
  };
  const Case cases[] = {
      {"a GPU less", "/gpus", gpus(7, "0x2330")},
      {"no GPU at all", "/gpus", Json::array()},
      {"unknown GPUs", "/gpus", nullptr},
      {"driver", "/kernel/modules/nvidia", "535"},
      {"BIOS", "/machine/bios_version", "0.9"},
      {"governor", "/cpu/governors", {"powersave"}},
      {"memory", "/memory/total_bytes", 500},
      {"a slower link", "/nics/0/speed_mbit", 100000},
      {"a link that is down", "/nics/0/speed_mbit", nullptr},
      {"no NIC", "/nics", Json::array()},
      {"no disk", "/disks", Json::array()},
      {"a disk more", "/disks/1", {{"name", "sda"}, {"model", "USB Stick"}}},
      {"an unknown CPU", "/cpu/model", nullptr},
  };
  for (const Case& c : cases) {
    std::vector<NodeInfo> nodes = fleet(8);
    set(nodes[3], c.pointer, c.value);
    EXPECT_EQ(cohorts_of(nodes), std::vector<std::string>(8, kKey)) << c.what;
  }
}

TEST(Cohorts, OtherModelsAreOthers) {
  struct Case {
    const char* pointer;
    Json value;
    const char* key;
  };
  const Case cases[] = {
      {"/gpus", gpus(8, "0x20b0"), "GPU 10de:20b0, "},
      {"/cpu/model", "AMD EPYC 7763 64-Core Processor", ", 2x EPYC 7763, "},
      {"/cpu/sockets", 1, ", 1x EPYC 9654, "},
      {"/pci/0/device", "0x101b", ", NIC 15b3:101b, "},
      {"/disks/0/model", "KCM61VUL3T20", ", KCM61VUL3T20, "},
  };
  for (const Case& c : cases) {
    std::vector<NodeInfo> nodes = fleet(8);
    set(nodes[3], c.pointer, c.value);
    const auto keys = cohorts_of(nodes);
    EXPECT_NE(keys[3].find(c.key), std::string::npos) << keys[3];
    EXPECT_EQ(std::ranges::count(keys, kKey), 7);
  }
}

TEST(Cohorts, ManyWhoLackTheSameAreAPopulation) {
  std::vector<NodeInfo> nodes = fleet(20);
  for (int i = 0; i < 2; ++i) {
    nodes[i].inventory["gpus"] = Json::array();
  }
  EXPECT_EQ(std::ranges::count(cohorts_of(nodes), kKey), 20);
  nodes[2].inventory["gpus"] = Json::array();
  const auto keys = cohorts_of(nodes);
  EXPECT_EQ(std::ranges::count(keys, kKey), 17);
  EXPECT_EQ(keys[0], "2x EPYC 9654, NIC 15b3:1021, MZWLO3T8, 400 Gbit/s");
}

TEST(Cohorts, WhoIsUnknownBelongsToTheLargest) {
  std::vector<NodeInfo> nodes = fleet(7);
  nodes[0].inventory = nullptr;
  nodes[1].inventory = Json{{"hostname", "a"}};
  nodes[2].cohort = nodes[3].cohort = "old";
  nodes[2].inventory = nullptr;
  EXPECT_EQ(cohorts_of(nodes),
            (std::vector<std::string>{kKey, kKey, "old", "old", kKey, kKey, kKey}));
  for (NodeInfo& node : nodes) {
    node.cohort.clear();
    node.inventory = nullptr;
  }
  EXPECT_EQ(cohorts_of(nodes), std::vector<std::string>(7));
}

TEST(Cohorts, OddShapesOfAnInventoryAreHarmless) {
  for (const Json& odd :
       {Json("text"), Json(3), Json::array({1}), Json{{"gpus", {1, nullptr}}},
        Json{{"nics", {{{"virtual", 3}}}}}, Json{{"pci", {1, "x"}}},
        Json{{"cpu", {{"model", 4}, {"sockets", "two"}}}}, Json{{"disks", {{{"model", ""}}}}}}) {
    std::vector<NodeInfo> nodes = fleet(4);
    nodes[1].inventory = odd;
    EXPECT_EQ(cohorts_of(nodes).size(), 4U);
  }
}

}  // namespace
}  // namespace fleetbench::detect
