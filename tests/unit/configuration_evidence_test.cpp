// Differences in inventories as the probe takes them, and the findings that they are joined to.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/detect/cohorts.hpp"
#include "harness/detect/configuration.hpp"
#include "harness/detect/explains.hpp"
#include "probes/support/node_inventory.hpp"
#include "tests/unit/machine.hpp"

namespace fleetbench::detect {
namespace {

const Json& real_inventory() {
  static const Json inventory = [] {
    const Machine machine;
    machine.load(std::string(FLEETBENCH_SOURCE_DIR) + "/tests/data/inventory/eight_gpu_node.tree");
    return node_inventory(machine.files());
  }();
  return inventory;
}

std::vector<NodeInfo> fleet() {
  std::vector<NodeInfo> nodes;
  for (int i = 0; i < 5; ++i) {
    Json inventory = real_inventory();
    inventory["hostname"] = "n" + std::to_string(i);
    inventory["kernel"]["boot_id"] = "boot" + std::to_string(i);
    inventory["machine"]["product_serial"] = i;
    inventory["disks"][0]["serial"] = i;
    inventory["nics"][0]["mac"] = i;
    inventory["memory"]["available_bytes"] = 1000 * i;
    inventory["numa"][0]["memory_free_bytes"] = 1000 * i;
    nodes.push_back({i, "n" + std::to_string(i), "", {i}, std::move(inventory), ""});
  }
  return nodes;
}

Finding slow_in(Layer layer) {
  Finding finding;
  finding.subject.kind = "node";
  finding.subject.node = "n2";
  finding.direction = Direction::slow;
  finding.layer = layer;
  return finding;
}

struct Case {
  const char* pointer;  // in the inventory of n2
  Json value;
  const char* text;
  std::vector<Layer> explains;
};

std::vector<Layer> host_and_what_it_serves() {
  return {Layer::host, Layer::storage, Layer::input, Layer::copy, Layer::network, Layer::step};
}

std::vector<Case> cases() {
  return {
      {"/kernel/modules/nvidia",
       "535.0",
       "kernel.modules.nvidia is 535.0, 4 of 5 nodes have 570.124.06",
       {Layer::compute, Layer::copy, Layer::fabric, Layer::step}},
      {"/cpu/governors", Json{"powersave"},
       "cpu.governors is [\"powersave\"], 4 of 5 nodes have [\"performance\",\"powersave\"]",
       host_and_what_it_serves()},
      {"/nics/0/mtu",
       2044,
       "nics[ibs1].mtu is 2044, 4 of 5 nodes have 4092",
       {Layer::network, Layer::fabric, Layer::step}},
      {"/mounts/1/options",
       "rw,sync",
       "mounts[/data].options is rw,sync, 4 of 5 nodes have rw,relatime,flock",
       {Layer::storage, Layer::input, Layer::step}},
      {"/memory/total_bytes", 1000000000000,
       "memory.total_bytes is 1000000000000, 4 of 5 nodes have 2164237795328",
       host_and_what_it_serves()},
      {"/cpu/cpuset_cpus", "0-3", "cpu.cpuset_cpus is 0-3, 4 of 5 nodes have 0-7",
       host_and_what_it_serves()},
  };
}

void expect_evidence(const std::vector<NodeInfo>& nodes, const std::string& text,
                     const std::vector<Layer>& explains) {
  const auto found = differences(nodes);
  ASSERT_EQ(found.size(), 1U) << text;
  EXPECT_EQ(found[0].text, text);
  for (const Layer layer : all_layers()) {
    std::vector<Finding> findings = {slow_in(layer), slow_in(layer), slow_in(layer)};
    findings[1].subject.node = "n1";  // who has what most have
    findings[2].direction = Direction::fast;
    add_as_evidence(found, nodes, findings);
    const bool expected = std::ranges::find(explains, layer) != explains.end();
    ASSERT_EQ(findings[0].evidence.size(), expected ? 1U : 0U) << text << to_string(layer);
    EXPECT_EQ(expected ? findings[0].evidence[0].text : text, text);
    EXPECT_TRUE(findings[1].evidence.empty());
    EXPECT_TRUE(findings[2].evidence.empty());
  }
}

TEST(ConfigurationEvidence, NodesThatDifferByNatureAreAlike) {
  EXPECT_TRUE(differences(fleet()).empty());
  const auto keys = cohorts_of(fleet());
  EXPECT_EQ(keys[0],
            "GPU 10de:2330, 2x Xeon Platinum 8480C, NIC 15b3:1021, SAMSUNG MZWLO3T8HCLS-00A07, 400 "
            "Gbit/s");
}

TEST(ConfigurationEvidence, IsJoinedToTheLayersThatItCanSlow) {
  for (const Case& c : cases()) {
    std::vector<NodeInfo> nodes = fleet();
    Json inventory = nodes[2].inventory.json();
    inventory.at(Json::json_pointer(c.pointer)) = c.value;
    nodes[2].inventory = inventory;
    expect_evidence(nodes, c.text, c.explains);
  }
}

// The device behind the link says what it slows.
TEST(ConfigurationEvidence, OfAPcieLinkIsForWhatIsBehindIt) {
  struct Link {
    const char* address;
    std::vector<Layer> explains;
  };
  const Link links[] = {
      {"0000:3a:00.0", {Layer::compute, Layer::copy, Layer::fabric, Layer::step}},
      {"0000:4b:00.0", {Layer::network, Layer::fabric, Layer::step}},
      {"0000:6a:00.0", {Layer::storage, Layer::input, Layer::step}},
      {"0000:e0:00.0",
       {Layer::compute, Layer::copy, Layer::fabric, Layer::network, Layer::storage, Layer::input,
        Layer::step}},
  };
  for (const Link& link : links) {
    std::vector<NodeInfo> nodes = fleet();
    Json& pci = nodes[2].inventory["pci"];
    const auto entry = std::ranges::find_if(
        pci, [&](const Json& device) { return device.at("address") == link.address; });
    ASSERT_NE(entry, pci.end());
    const int width = entry->at("current_link_width");
    (*entry)["current_link_width"] = 1;
    expect_evidence(
        nodes,
        fmt::format("pci[{}].current_link_width is 1, 4 of 5 nodes have {}", link.address, width),
        link.explains);
  }
}

TEST(ConfigurationEvidence, OfALinkNamesTheEnd) {
  std::vector<NodeInfo> nodes = fleet();
  nodes[2].inventory["nics"][0]["mtu"] = 2044;
  Finding finding = slow_in(Layer::network);
  finding.subject.kind = "link";
  finding.subject.node.clear();
  finding.subject.a = "n1";
  finding.subject.b = "n2";
  std::vector<Finding> findings = {finding};
  add_as_evidence(differences(nodes), nodes, findings);
  ASSERT_EQ(findings[0].evidence.size(), 1U);
  EXPECT_EQ(findings[0].evidence[0].text, "n2: nics[ibs1].mtu is 2044, 4 of 5 nodes have 4092");
}

}  // namespace
}  // namespace fleetbench::detect
