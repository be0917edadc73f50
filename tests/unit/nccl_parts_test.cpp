// What the NCCL probes are made of, as far as it needs neither NCCL nor a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "probes/gpu/nccl/communicator.hpp"
#include "probes/gpu/nccl/debug_log.hpp"
#include "probes/gpu/nccl/gpu_collective.hpp"
#include "probes/gpu/nccl/nccl_facts.hpp"
#include "probes/gpu/nccl/nccl_library.hpp"
#include "probes/gpu/nccl/pair_plan.hpp"
#include "probes/gpu/nccl/place.hpp"
#include "probes/probe.hpp"

namespace fleetbench::gpu::nccl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Place place_of(const std::vector<std::string>& nodes) {
  Place place;
  for (const std::string& node : nodes) {
    place.ranks.push_back({node, "gpu0"});
  }
  return place;
}

TEST(NcclPlace, IsReadFromTheWork) {
  const Place place =
      place_from(Json::parse(R"({"place": {"index": 1, "ranks": [{"node": "a", "device": "gpu0"},
                                                      {"node": "b", "device": "gpu7"}]}})"));
  EXPECT_EQ(place.size(), 2U);
  EXPECT_EQ(place.own_name(), "rank 1 of 2 (b gpu7)");
}

TEST(NcclPlace, WorkThatDoesNotSayItIsRefused) {
  const char* cases[] = {"{}",
                         "null",
                         R"({"place": {"index": 0, "nodes": ["a"]}})",
                         R"({"place": {"index": 1, "ranks": [{"node": "a", "device": "gpu0"}]}})",
                         R"({"place": {"index": 0, "ranks": [{"node": "a"}]}})",
                         R"({"place": {"ranks": [{"node": "a", "device": "gpu0"}]}})"};
  for (const char* work : cases) {
    EXPECT_THROW(place_from(Json::parse(work)), std::exception) << work;
  }
}

TEST(NcclPlace, RanksOfANodeShareItsClock) {
  EXPECT_EQ(place_of({"a", "b", "a", "c", "b"}).clock_owners(),
            (std::vector<std::size_t>{0, 1, 0, 3, 1}));
}

TEST(NcclId, TravelsAsHexadecimal) {
  ncclUniqueId id{};
  for (std::size_t i = 0; i < sizeof id.internal; ++i) {
    id.internal[i] = static_cast<char>(7 * i + 200);
  }
  const std::string hex = to_hex(id);
  EXPECT_EQ(hex.size(), 256U);
  EXPECT_EQ(to_hex(unique_id_from(hex)), hex);
  for (const std::string& wrong : {std::string(), hex.substr(1), hex + "0", "g" + hex.substr(1)}) {
    EXPECT_THROW(unique_id_from(wrong), std::runtime_error) << wrong;
  }
}

TEST(NcclLibrary, VersionsAreReadAsNcclNumbersThem) {
  EXPECT_EQ(version_text(22809), "2.28.9");
  EXPECT_EQ(version_text(21800), "2.18.0");
}

TEST(NcclLibrary, OneThatIsNoneNamesTheMend) {
  for (const char* path : {"/nowhere/libnccl.so.2", "libc.so.6"}) {
    setenv("FLEETBENCH_NCCL", path, 1);
    try {
      const Library library;
      ADD_FAILURE() << path;
    } catch (const NotAvailable& error) {
      EXPECT_THAT(error.what(), HasSubstr("FLEETBENCH_NCCL")) << path;
      EXPECT_THAT(error.what(), HasSubstr(path));
    }
  }
  unsetenv("FLEETBENCH_NCCL");
}

TEST(NcclCollectives, ThereIsOneForEachRule) {
  ASSERT_EQ(gpu_collectives().size(), collective_shapes().size());
  for (std::size_t i = 0; i < collective_shapes().size(); ++i) {
    EXPECT_EQ(gpu_collectives()[i].rule, collective_shapes()[i].rule);
    EXPECT_EQ(&gpu_collective(gpu_collectives()[i].rule->name), &gpu_collectives()[i]);
  }
  EXPECT_THROW(gpu_collective("gather"), std::invalid_argument);
}

TEST(NcclPairs, HalvesOfTwoNodesMeet) {
  const PairSides sides(place_of({"a", "a", "b", "b"}));
  EXPECT_EQ(sides.pairs(), 2U);
  EXPECT_EQ(sides.peer_of(1), 3U);
  EXPECT_EQ(sides.peer_of(2), 0U);
  EXPECT_TRUE(sides.is_first(1));
  EXPECT_FALSE(sides.is_first(2));
  EXPECT_EQ(PairSides(place_of({"a", "a"})).peer_of(0), 1U);
}

TEST(NcclPairs, OtherHalvesAreRefused) {
  const std::vector<std::vector<std::string>> cases{
      {}, {"a"}, {"a", "b", "c"}, {"a", "b", "a", "b"}, {"a", "a", "b", "c"}};
  for (const auto& nodes : cases) {
    EXPECT_THROW(PairSides(place_of(nodes)), NotAvailable) << nodes.size();
  }
}

TEST(NcclPairs, TheLaterEndCountsAndPairsAddUp) {
  const PairSides one(place_of({"a", "b"}));
  EXPECT_DOUBLE_EQ(one.rate(100, {2, 4}), 25);
  const PairSides two(place_of({"a", "a", "b", "b"}));
  EXPECT_DOUBLE_EQ(two.rate(100, {2, 5, 4, 1}), 25 + 20);
}

TEST(NcclPairs, MessagesAndBatchesFollowFromTheParameters) {
  Json params = {
      {"message_bytes", 1 << 20}, {"bytes", 10 << 20},       {"warmup", 2}, {"max_s", 1.0},
      {"latency_bytes", 8},       {"latency_iterations", 50}};
  EXPECT_EQ(pair_plan_from(params).messages, 10);
  EXPECT_EQ(pair_plan_from(params).batches, 3);
  EXPECT_EQ(pair_plan_from(params).round_trips, 20);
  params["bytes"] = 5;
  params["latency_iterations"] = 7;
  EXPECT_EQ(pair_plan_from(params).messages, 1);
  EXPECT_EQ(pair_plan_from(params).batches, 1);
  EXPECT_EQ(pair_plan_from(params).round_trips, 7);
}

constexpr const char* kLog = R"(
dgx-a-07:2210:2210 [0] NCCL INFO Bootstrap: Using bond0:10.20.0.7<0>
dgx-a-07:2210:2249 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so
dgx-a-07:2210:2249 [0] NCCL INFO Using network IB
dgx-a-07:2210:2249 [0] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via P2P/CUMEM/read
dgx-a-07:2210:2249 [0] NCCL INFO Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/3(2)/GDRDMA
dgx-a-07:2210:2249 [0] NCCL INFO Channel 02/0 : 8[0] -> 0[0] [receive] via NET/IB/0/GDRDMA/Shared
dgx-a-07:2210:2249 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct
dgx-a-07:2210:2249 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 1
dgx-a-07:2210:2249 [0] NCCL INFO 24 coll channels, 0 collnet channels, 16 nvls channels, 32 p2p channels, 2 p2p channels per peer
dgx-a-07:2210:2249 [0] NCCL INFO AllReduce: 8 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..0}
dgx-a-07:2210:2249 [0] NCCL INFO AllReduce: 32768 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..7}
dgx-a-07:2210:2249 [0] NCCL INFO AllReduce: 8388608 Bytes -> Algo NVLS proto SIMPLE channel{Lo..Hi}={0..15}
dgx-a-07:2210:2249 [0] NCCL INFO AllGather: 4096 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..7}
)";

TEST(NcclFacts, LinesOfALogAreUnderstood) {
  const LogFacts facts = log_facts(kLog);
  EXPECT_EQ(facts.network, "IB");
  EXPECT_EQ(facts.transports,
            (std::set<std::string>{"NET/IB/GDRDMA", "P2P/CUMEM/read", "SHM/direct/direct"}));
  EXPECT_EQ(facts.collective_channels, 24);
  EXPECT_EQ(facts.nvls_channels, 16);
  EXPECT_EQ(facts.p2p_channels, 32);
  EXPECT_EQ(facts.algorithms.at("all_reduce").at(8388608), "NVLS/SIMPLE");
  EXPECT_EQ(facts.algorithms.at("all_gather").at(4096), "RING/LL128");
}

TEST(NcclFacts, OtherVersionsAndNetworks) {
  struct Case {
    const char* line;
    std::string network;
    std::set<std::string> transports;
  };
  const Case cases[] = {{"h:1:2 [3] NCCL INFO Using network AWS Libfabric", "AWS Libfabric", {}},
                        {"h:1:2 [3] NCCL INFO Using network Socket\r", "Socket", {}},
                        {"[2026-01-01 10:00:00] h:1:2 [3] NCCL INFO Channel 00/0 : 0[0] -> 1[0] "
                         "[send] via NET/Socket/0",
                         "",
                         {"NET/Socket"}},
                        {"h:1:2 [0] NCCL INFO Channel 00/1 : 0[0] -> 3[3] via P2P/indirect/2[2]",
                         "",
                         {"P2P/indirect"}},
                        {"h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer",
                         "",
                         {"P2P/direct"}},
                        {"h:1:2 [0] NCCL INFO CollNet 00/0 : 0 [send] via COLLNET/SHARP/0/GDRDMA",
                         "",
                         {"COLLNET/SHARP/GDRDMA"}}};
  for (const Case& c : cases) {
    const LogFacts facts = log_facts(c.line);
    EXPECT_EQ(facts.network, c.network) << c.line;
    EXPECT_EQ(facts.transports, c.transports) << c.line;
  }
  const LogFacts older = log_facts(
      "h:1:2 [0] NCCL INFO 16 coll channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per "
      "peer");
  EXPECT_EQ(older.collective_channels, 16);
  EXPECT_EQ(older.nvls_channels, 0);
}

TEST(NcclFacts, WhatIsNotUnderstoodIsPassedOver) {
  const char* cases[] = {
      "",
      "\n\n",
      "NCCL INFO ",
      "Using network IB",
      "h:1:2 [0] NCCL WARN Using network IB",
      "h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1]",
      "h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via ",
      "h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via 3/4/",
      "h:1:2 [0] NCCL INFO x coll channels, 99999999999999 nvls channels",
      "h:1:2 [0] NCCL INFO AllReduce:  Bytes -> Algo RING proto LL",
      "h:1:2 [0] NCCL INFO AllReduce: 8 Bytes -> Algo RING",
      "h:1:2 [0] NCCL INFO AllReduce: 8 Bytes -> Algo  proto LL",
      "h:1:2 [0] NCCL INFO 8 Bytes -> Algo 1 proto 2 time 12.3",
      "h:1:2 [0] NCCL INFO AllReduceX: 8 Bytes -> Algo RING proto LL c",
      "h:1:2 [0] NCCL INFO AllReduce: 99999999999999999999999 Bytes -> Algo A proto B"};
  for (const char* text : cases) {
    const LogFacts facts = log_facts(text);
    EXPECT_THAT(facts.network, IsEmpty()) << text;
    EXPECT_THAT(facts.transports, IsEmpty()) << text;
    EXPECT_THAT(facts.algorithms, IsEmpty()) << text;
    EXPECT_FALSE(facts.collective_channels || facts.nvls_channels) << text;
  }
}

TEST(NcclFacts, AlgorithmsAreToldByStretchesOfSizes) {
  const std::map<std::size_t, std::string> by_bytes{
      {8, "TREE/LL"}, {24, "RING/LL"}, {4096, "TREE/LL"}, {1 << 20, "RING/SIMPLE"}};
  EXPECT_EQ(algorithms_text(by_bytes, {{8, 32}, {4096, 16384}, {1 << 20, 4 << 20}}),
            "TREE/LL to 16K, RING/SIMPLE to 4M");
  EXPECT_EQ(algorithms_text(by_bytes, {{16, 16}}), "");
  EXPECT_EQ(algorithms_text({}, {{8, 8}}), "");
}

TEST(NcclFacts, ThoseOfANodeAreThoseOfItsRanks) {
  const MeasuredCalls measured{{"all_reduce", {{8, 8}, {8388608, 8388608}}}, {"reduce", {{8, 8}}}};
  LogFacts other;
  other.transports = {"P2P/IPC"};
  other.network = "Socket";
  const Json facts =
      node_facts({to_text(log_facts(kLog), measured), "rubbish", "[1]", to_text(other, measured)});
  EXPECT_EQ(facts, Json::parse(R"({
    "network": "IB", "collective_channels": 24, "nvls_channels": 16, "p2p_channels": 32,
    "transports": "NET/IB/GDRDMA, P2P/CUMEM/read, P2P/IPC, SHM/direct/direct",
    "algorithms": {"all_reduce": "TREE/LL to 8, NVLS/SIMPLE to 8M"}})"));
  EXPECT_EQ(node_facts({}), Json::object());
}

class NcclLog : public testing::Test {
 protected:
  NcclLog() { forget(); }
  ~NcclLog() override { forget(); }
  static void forget() {
    for (const char* variable : {"NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS"}) {
      unsetenv(variable);
    }
  }
};

TEST_F(NcclLog, GivesWhatWasWrittenSinceTheLastTime) {
  DebugLog log;
  EXPECT_FALSE(log.why_not());
  EXPECT_STREQ(std::getenv("NCCL_DEBUG"), "INFO");
  std::FILE* const file = std::fopen(std::getenv("NCCL_DEBUG_FILE"), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("one\n", file);
  std::fflush(file);
  EXPECT_EQ(log.take(), "one\n");
  EXPECT_EQ(log.take(), "");
  std::fputs("two\n", file);
  std::fclose(file);
  EXPECT_EQ(log.take(), "two\n");
}

TEST_F(NcclLog, LeavesWhatTheUserSetAlone) {
  setenv("NCCL_DEBUG", "WARN", 1);
  DebugLog log;
  EXPECT_THAT(log.why_not().value_or(""), HasSubstr("NCCL_DEBUG is set"));
  EXPECT_STREQ(std::getenv("NCCL_DEBUG"), "WARN");
  EXPECT_EQ(std::getenv("NCCL_DEBUG_FILE"), nullptr);
  EXPECT_EQ(log.take(), "");
}

}  // namespace
}  // namespace fleetbench::gpu::nccl
