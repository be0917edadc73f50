// What NCCL's log says.
#include <unistd.h>

#include <cstdlib>

#include "tests/gpu_sim/test/ranks.hpp"

namespace gpu_sim_test {

namespace {

// What ranks that do one all_reduce of some kilobytes write with `settings`, rank after rank.
// FLEETBENCH_TEST_FILE names a file of the build folder.
std::vector<std::string> logs_of(const RankPlaces& places, RankSettings settings) {
  const std::string file = std::getenv("FLEETBENCH_TEST_FILE");
  settings.insert({{"NCCL_DEBUG", "INFO"}, {"NCCL_DEBUG_FILE", file + ".%h.%p"}});
  const Outcome outcome = on_ranks(with(places, settings), [](const Rank& rank) {
    rank.say(0, getpid());
    const Comm comm(rank);
    const Stream stream;
    const DeviceArray<float> data(1 << 18);
    EXPECT_NCCL(ncclAllReduce(data.get(), data.get(), 1 << 18, ncclFloat, ncclSum, comm.get(),
                              stream.get()));
    stream.finish();
  });
  std::array<char, 256> host{};
  EXPECT_EQ(gethostname(host.data(), host.size()), 0);
  std::vector<std::string> logs;
  for (const auto& rank : outcome) {
    const std::string name =
        file + "." + host.data() + "." + std::to_string(static_cast<int>(rank[0]));
    logs.push_back(content(name));
    std::remove(name.c_str());
  }
  return logs;
}

void expect_lines(const std::string& log, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    EXPECT_NE(log.find(" NCCL INFO " + line), std::string::npos) << line << " in\n" << log;
  }
}

TEST(NcclLog, SaysVersionNetworkAndChannels) {
  const auto logs = logs_of({{"node0", 0}, {"node0", 1}, {"node1", 0}}, {});
  expect_lines(logs[0], {"NCCL version 2.28.9+cuda13.0\n", "Using network IB\n",
                         "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n",
                         "Channel 00/0 : 2[0] -> 0[0] [receive] via NET/IB/0\n"});
  expect_lines(logs[1], {"Channel 15/0 : 1[1] -> 2[0] [send] via NET/IB/1\n"});
  EXPECT_NE(logs[1].find(" rank 1 nranks 3 cudaDev 1 nvmlDev 1 busId 43000 commId 0x"),
            std::string::npos);
  for (const std::string& log : logs) {
    EXPECT_NE(log.find("- Init COMPLETE\n"), std::string::npos);
    EXPECT_EQ(log.find("Algo"), std::string::npos);
  }
}

TEST(NcclLog, SaysWhatIsSet) {
  const auto logs = logs_of(on_nodes(2), {{"FLEETBENCH_GPU_SIM_NCCL_VERSION", "2.27.3"},
                                          {"FLEETBENCH_GPU_SIM_NCCL_NETWORK", "Socket"}});
  expect_lines(logs[1], {"NCCL version 2.27.3+cuda13.0\n", "Using network Socket\n",
                         "Channel 00/0 : 1[0] -> 0[0] [send] via NET/Socket/0\n"});
}

TEST(NcclLog, SaysTheAlgorithmWhereItIsAskedFor) {
  const auto logs = logs_of(on_nodes(2), {{"NCCL_DEBUG_SUBSYS", "TUNING"}});
  expect_lines(logs[0], {"AllReduce: 1048576 Bytes -> Algo RING proto SIMPLE "
                         "channel{Lo..Hi}={0..15}\n"});
  EXPECT_EQ(logs[0].find("Channel"), std::string::npos);
  EXPECT_EQ(logs[1], "");
}

TEST(NcclLog, SaysThatGpusDoNotReachEachOther) {
  const auto logs =
      logs_of(with_faults(on_one_node(2), "node0:1:no_peers"), {{"NCCL_DEBUG_SUBSYS", "SHM"}});
  expect_lines(logs[0], {"Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct\n"});
  EXPECT_EQ(logs[0].find("Init"), std::string::npos);
}

TEST(NcclLog, SaysNothingUnlessItIsAsked) {
  for (const std::string& log : logs_of(on_nodes(2), {{"NCCL_DEBUG", "WARN"}})) {
    EXPECT_EQ(log, "");
  }
}

}  // namespace

}  // namespace gpu_sim_test
