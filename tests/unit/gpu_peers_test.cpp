// What copies between GPUs say of each, and who may be measured together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "probes/gpu/gpus_of_node.hpp"
#include "probes/gpu/peer_matrix.hpp"

namespace fleetbench::gpu {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

PeerCopy reads(Place by, Place other) { return {Way::read, by, other}; }
PeerCopy writes(Place by, Place other) { return {Way::write, by, other}; }

TEST(AllCopies, AreInTheOrderOfNvbandwidth) {
  std::vector<std::pair<Place, Place>> paths;
  for (const PeerCopy& copy : all_copies(3)) {
    paths.emplace_back(copy.source(), copy.target());
  }
  EXPECT_THAT(paths,
              ElementsAre(std::pair(1, 0), std::pair(2, 0), std::pair(0, 1), std::pair(2, 1),
                          std::pair(0, 2), std::pair(1, 2), std::pair(0, 1), std::pair(0, 2),
                          std::pair(1, 0), std::pair(1, 2), std::pair(2, 0), std::pair(2, 1)));
  EXPECT_THAT(all_copies(1), IsEmpty());
}

TEST(PeerFigures, AreMediansOfOwnCopiesAndTheLowestOfAll) {
  const std::vector<PeerRate> rates{{reads(0, 1), 10},  {reads(0, 2), 30}, {reads(0, 3), 20},
                                    {writes(0, 1), 50}, {writes(0, 2), 5}, {reads(1, 0), 1}};
  const PeerFigures figures = figures_of(rates, 0);
  EXPECT_EQ(figures.read, 20);
  EXPECT_EQ(figures.write, 27.5);
  ASSERT_TRUE(figures.lowest);
  EXPECT_EQ(figures.lowest->bytes_per_s, 5);
  EXPECT_EQ(figures.lowest->rate.copy.other, 2U);
  EXPECT_EQ(figures.lowest->rate.copy.way, Way::write);
}

TEST(PeerFigures, ASlowPathIsTheLowestOfBothEnds) {
  std::vector<PeerRate> rates;
  for (const PeerCopy& copy : all_copies(4)) {
    rates.push_back({copy, copy.source() == 2 && copy.target() == 0 ? 50.0 : 100.0});
  }
  for (const auto& [gpu, lowest] :
       {std::pair(0, 50.0), std::pair(1, 100.0), std::pair(2, 50.0), std::pair(3, 100.0)}) {
    const PeerFigures figures = figures_of(rates, static_cast<Place>(gpu));
    EXPECT_EQ(figures.lowest->bytes_per_s, lowest) << gpu;
    EXPECT_EQ(figures.read, 100) << gpu;
    EXPECT_EQ(figures.write, 100) << gpu;
  }
}

TEST(PeerFigures, ASlowGpuIsTheLowestOfNoOther) {
  for (const std::size_t gpus : {3U, 4U, 8U}) {
    std::vector<PeerRate> sends_slowly;
    std::vector<PeerRate> is_slow;
    for (const PeerCopy& copy : all_copies(gpus)) {
      const bool sends = copy.source() == 1;
      sends_slowly.push_back({copy, sends ? 50.0 : 100.0});
      is_slow.push_back({copy, sends || copy.target() == 1 ? 50.0 : 100.0});
    }
    for (Place gpu = 0; gpu < gpus; ++gpu) {
      const double expected = gpu == 1 ? 50 : 100;
      EXPECT_EQ(figures_of(sends_slowly, gpu).lowest->bytes_per_s, expected) << gpus << ", " << gpu;
      EXPECT_EQ(figures_of(is_slow, gpu).lowest->bytes_per_s, expected) << gpus << ", " << gpu;
    }
    EXPECT_EQ(figures_of(sends_slowly, 1).write, 50);
    EXPECT_EQ(figures_of(sends_slowly, 1).read, 100);
  }
}

TEST(PeerFigures, WhatASlowGpuDoesNotExplainIsLeft) {
  std::vector<PeerRate> rates;
  for (const PeerCopy& copy : all_copies(4)) {
    const double rate = copy.source() == 1 ? copy.target() == 0 ? 20.0 : 50.0 : 100.0;
    rates.push_back({copy, rate});
  }
  EXPECT_EQ(figures_of(rates, 1).lowest->bytes_per_s, 20);
  EXPECT_EQ(figures_of(rates, 0).lowest->bytes_per_s, 40) << "of 20, twice";
  EXPECT_EQ(figures_of(rates, 0).lowest->rate.bytes_per_s, 20);
  EXPECT_EQ(figures_of(rates, 2).lowest->bytes_per_s, 100);
}

TEST(PeerFigures, OfTwoGpusEitherMayBeSlow) {
  const std::vector<PeerRate> rates{
      {reads(0, 1), 50}, {reads(1, 0), 100}, {writes(0, 1), 100}, {writes(1, 0), 50}};
  EXPECT_EQ(figures_of(rates, 0).lowest->bytes_per_s, 50);
  EXPECT_EQ(figures_of(rates, 1).lowest->bytes_per_s, 50);
}

TEST(PeerFigures, AreAbsentWithoutCopies) {
  const PeerFigures figures = figures_of({{reads(1, 2), 10}}, 0);
  EXPECT_FALSE(figures.read || figures.write || figures.lowest);
}

TEST(Blame, IsWithWhoHasAPartInMoreFalseCopies) {
  EXPECT_THAT(blamed_for({}, 4), IsEmpty());
  EXPECT_THAT(blamed_for({reads(0, 3)}, 4), ElementsAre(0, 3)) << "either may be";
  EXPECT_THAT(blamed_for({reads(0, 3), reads(1, 3), writes(3, 2)}, 4), ElementsAre(3));
  EXPECT_THAT(blamed_for({reads(0, 3), writes(3, 0)}, 4), ElementsAre(0, 3)) << "one path";
  EXPECT_THAT(blamed_for({reads(0, 1), writes(2, 3)}, 4), ElementsAre(0, 1, 2, 3));
}

TEST(WhyNotTogether, NothingWhereAllAreSeen) {
  EXPECT_EQ(why_not_together({.seen = 8, .wanted = 8, .on_pci = 8, .visible = {}}), std::nullopt);
  EXPECT_EQ(why_not_together({.seen = 2, .wanted = 2, .on_pci = 8, .visible = "0,1"}), std::nullopt)
      << "the job has these two";
}

TEST(WhyNotTogether, SaysWhoHidesThemAndHowToStart) {
  EXPECT_THAT(*why_not_together({.seen = 1, .wanted = 8, .on_pci = 8, .visible = "3"}),
              AllOf(HasSubstr("1 of the 8 GPUs of the node (CUDA_VISIBLE_DEVICES=3)"),
                    HasSubstr("--gpus-per-node=8 --gpu-bind=none"), HasSubstr("ppr:1:node")));
  EXPECT_THAT(*why_not_together({.seen = 1, .wanted = 1, .on_pci = 4, .visible = {}}),
              AllOf(HasSubstr("1 of the 4 GPUs of the node, and"), Not(HasSubstr("DEVICES="))))
      << "a control group hides them";
  EXPECT_THAT(*why_not_together({.seen = 4, .wanted = 8, .on_pci = 0, .visible = {}}),
              HasSubstr("4 of the 8"));
}

TEST(WhyNotTogether, OneGpuIsNoFaultOfTheLauncher) {
  EXPECT_EQ(why_not_together({.seen = 1, .wanted = 1, .on_pci = 1, .visible = {}}),
            "there is one GPU: it takes two to copy between them");
}

class PciTree : public testing::Test {
 protected:
  ~PciTree() override { std::filesystem::remove_all(root_); }
  void add(const std::string& address, const char* kind, const char* vendor) const {
    const auto folder = root_ / "sys/bus/pci/devices" / address;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "class") << kind << "\n";
    std::ofstream(folder / "vendor") << vendor << "\n";
    std::ofstream(folder / "device") << "0x2330\n";
  }
  std::filesystem::path root_ = testing::TempDir() + "/pci_tree";
};

TEST_F(PciTree, ListsNvidiasGpusAlone) {
  add("0000:1b:00.0", "0x030200", "0x10de");
  add("0000:2b:00.0", "0x030200", "0x1002");  // of AMD
  add("0000:3b:00.0", "0x068000", "0x10de");  // a switch of NVLinks
  add("0000:4b:00.0", "0x030200", "0x10de");
  EXPECT_THAT(nvidia_gpus_on_pci(HostFiles(root_)), ElementsAre("0000:1b:00.0", "0000:4b:00.0"));
}

}  // namespace
}  // namespace fleetbench::gpu
