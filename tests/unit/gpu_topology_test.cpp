// How the GPUs of a node are joined, and what each is near.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "probes/gpu/affinity.hpp"
#include "probes/gpu/nvml/topology.hpp"

namespace fleetbench::gpu {
namespace {

TEST(Affinity, IsAsThePciTreeHasIt) {
  const std::filesystem::path root = testing::TempDir() + "/affinity_tree";
  const auto folder = root / "sys/bus/pci/devices/0000:1b:00.0";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "numa_node") << "1\n";
  std::ofstream(folder / "local_cpulist") << "48-95,144-191\n";
  EXPECT_EQ(affinity_facts("0000:1b:00.0", HostFiles(root), {}, nullptr),
            Json({{"numa_node", "1"}, {"cpus", "48-95,144-191"}}));
  std::ofstream(folder / "numa_node") << "-1\n";
  EXPECT_FALSE(affinity_facts("0000:1b:00.0", HostFiles(root), {}, nullptr).contains("numa_node"));
  EXPECT_EQ(affinity_facts("0000:2b:00.0", HostFiles(root), {}, nullptr), Json::object());
  std::filesystem::remove_all(root);
}

TEST(ListText, IsAsTheKernelWritesIt) {
  EXPECT_EQ(list_text({}), "");
  EXPECT_EQ(list_text(std::array{0UL}), "");
  EXPECT_EQ(list_text(std::array{0b1011'0111UL}), "0-2,4-5,7");
  EXPECT_EQ(list_text(std::array{1UL << 63U, 0b101UL}), "63-64,66");
  EXPECT_EQ(list_text(std::array{~0UL, ~0UL}), "0-127");
}

using nvml::LinkedGpu;
using nvml::path_between;

TEST(PathBetween, CountsNvLinksBeforePcie) {
  const LinkedGpu a{.address = "a", .to_gpu = {{"b", 4}}, .to_switches = 0};
  const LinkedGpu b{.address = "b", .to_gpu = {{"a", 4}}, .to_switches = 12};
  const LinkedGpu c{.address = "c", .to_gpu = {}, .to_switches = 18};
  EXPECT_EQ(path_between(a, b, nvml::kSystem), "NV4");
  EXPECT_EQ(path_between(b, c, nvml::kSystem), "NV12") << "as many as both have to switches";
  EXPECT_EQ(path_between(a, c, nvml::kSystem), "SYS");
}

TEST(PathBetween, NamesWhatTheyHaveInCommon) {
  const LinkedGpu a{.address = "a", .to_gpu = {}};
  const LinkedGpu b{.address = "b", .to_gpu = {}};
  EXPECT_EQ(path_between(a, b, nvml::kOneSwitch), "PIX");
  EXPECT_EQ(path_between(a, b, nvml::kSwitches), "PXB");
  EXPECT_EQ(path_between(a, b, nvml::kHostBridge), "PHB");
  EXPECT_EQ(path_between(a, b, nvml::kNumaNode), "NODE");
  EXPECT_EQ(path_between(a, b, 60), "?") << "a level that is not known";
  EXPECT_EQ(path_between(a, b, std::nullopt), "?");
}

nvml::Topology topology(std::vector<std::vector<std::string>> paths) {
  nvml::Topology result;
  for (unsigned i = 0; i < paths.size(); ++i) {
    result.gpus.push_back(
        {.index = i, .address = std::string(1, static_cast<char>('a' + i)), .to_gpu = {}});
  }
  result.paths = std::move(paths);
  return result;
}

TEST(TopologyText, IsOneForAllPaths) {
  EXPECT_EQ(text_of(topology({})), "");
  EXPECT_EQ(text_of(topology({{"X"}})), "");
  EXPECT_EQ(text_of(topology({{"X", "NV4", "NV4"}, {"NV4", "X", "NV4"}, {"NV4", "NV4", "X"}})),
            "NV4");
  EXPECT_EQ(text_of(topology({{"X", "SYS", "SYS"}, {"SYS", "X", "PIX"}, {"SYS", "PIX", "X"}})),
            "PIX gpu1-gpu2, else SYS");
}

TEST(TopologyRow, NamesTheOthers) {
  const auto joined = topology({{"X", "SYS", "SYS"}, {"SYS", "X", "PIX"}, {"SYS", "PIX", "X"}});
  EXPECT_EQ(row_of(joined, "b"), "a SYS, c PIX");
  EXPECT_EQ(row_of(joined, "z"), "");
}

}  // namespace
}  // namespace fleetbench::gpu
