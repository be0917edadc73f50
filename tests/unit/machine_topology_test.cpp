#include "probes/support/machine_topology.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "probes/support/pages.hpp"
#include "probes/support/team_time.hpp"
#include "probes/support/usable_cores.hpp"

namespace fleetbench {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

struct Case {
  const char* synthetic;
  std::vector<std::vector<int>> cpus;  // of each NUMA node
  std::int64_t last_cache_bytes;
};

TEST(MachineTopology, KnowsNodesCoresAndCaches) {
  const std::vector<Case> cases{
      {"node:1 core:2 pu:1", {{0, 1}}, 0},
      {"node:1 core:2 pu:2", {{0, 2}}, 0},  // one hardware thread of each core
      {"node:2 l3:1(size=33554432) core:2 pu:2", {{0, 2}, {4, 6}}, 64 * kMiB},
      {"node:2 l3:2(size=16777216) core:1 pu:1", {{0, 1}, {2, 3}}, 64 * kMiB},
      {"node:1 l3:1(size=8388608) l2:2(size=1048576) core:1 pu:1", {{0, 1}}, 8 * kMiB},
      {"node:1 l2:2(size=1048576) core:1 pu:1", {{0, 1}}, 2 * kMiB},
      {"pack:2 node:2 core:1 pu:1", {{0}, {1}, {2}, {3}}, 0},
      {"node:1 pu:3", {{0, 1, 2}}, 0},  // no cores known
  };
  for (const Case& expected : cases) {
    const MachineTopology topology(expected.synthetic);
    std::vector<std::vector<int>> cpus;
    std::vector<int> all;
    for (const NumaNode& node : topology.numa_nodes()) {
      EXPECT_EQ(node.index, static_cast<int>(cpus.size())) << expected.synthetic;
      cpus.push_back(node.cpus);
      all.insert(all.end(), node.cpus.begin(), node.cpus.end());
    }
    EXPECT_EQ(cpus, expected.cpus) << expected.synthetic;
    EXPECT_EQ(topology.cpus(), all) << expected.synthetic;
    EXPECT_EQ(topology.last_cache_bytes(), expected.last_cache_bytes) << expected.synthetic;
  }
}

TEST(MachineTopology, RefusesWhatIsNoTopology) {
  EXPECT_THROW(MachineTopology("node:none"), std::runtime_error);
}

TEST(MachineTopology, OfThisMachineHasItsUsableCores) {
  EXPECT_EQ(static_cast<int>(MachineTopology().cpus().size()), usable_cores());
}

TEST(MachineTopology, AThreadThatIsBoundRunsThere) {
  const MachineTopology topology;
  const int cpu = topology.cpus().back();
  int before = -1;
  int after = -1;
  std::thread([&] {
    topology.bind_this_thread(cpu);
    before = sched_getcpu();
    std::this_thread::yield();
    after = sched_getcpu();
  }).join();
  EXPECT_EQ(before, cpu);
  EXPECT_EQ(after, cpu);
}

TEST(MachineTopology, BindingToACpuThatIsNotThereFailsByName) {
  const MachineTopology topology;
  try {
    topology.bind_this_thread(100000);
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("CPU 100000"), std::string::npos) << error.what();
  }
}

TEST(MachineTopology, TouchedMemoryLiesOnAKnownNodeOrCannotBeAsked) {
  const MachineTopology topology;
  topology.place_pages_at_first_touch();
  const Pages pages(1 << 16);
  *pages.data() = std::byte{1};
  const auto node = topology.node_of(pages.data());
  EXPECT_TRUE(!node || *node >= 0);
}

TEST(ThreadTeam, EachThreadWorksOncePerRound) {
  ThreadTeam team(5);
  EXPECT_EQ(team.size(), 5);
  std::vector<int> calls(5, 0);
  for (int round = 0; round < 100; ++round) {
    team.run([&](int number) { ++calls[static_cast<std::size_t>(number)]; });
  }
  EXPECT_EQ(calls, std::vector<int>(5, 100));
}

TEST(ThreadTeam, TheFirstFailureIsThrownAndTheTeamGoesOn) {
  ThreadTeam team(4);
  for (int round = 0; round < 3; ++round) {
    try {
      team.run([](int number) {
        if (number >= 2) {
          throw std::runtime_error(std::to_string(number));
        }
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "2");
    }
  }
  int calls = 0;
  team.run([&](int number) { calls += number == 3; });
  EXPECT_EQ(calls, 1);
}

TEST(ThreadTeam, AThreadThatCannotBeginIsTheTeamsFailure) {
  EXPECT_THROW(ThreadTeam(3,
                          [](int number) {
                            if (number == 1) {
                              throw std::runtime_error("no such CPU");
                            }
                          }),
               std::runtime_error);
}

TEST(TeamTime, IsThatOfTheSlowestThread) {
  ThreadTeam team(4);
  std::vector<int> calls(4, 0);
  const auto seconds = time_together(team, 3, [&](int number) {
    ++calls[static_cast<std::size_t>(number)];
    std::this_thread::sleep_for(std::chrono::milliseconds(number == 2 ? 20 : 0));
  });
  EXPECT_EQ(calls, std::vector<int>(4, 3));
  ASSERT_EQ(seconds.size(), 3U);
  for (const double repetition : seconds) {
    EXPECT_GE(repetition, 0.020);
  }
}

TEST(TeamTime, OfAPartRunsOnlyThat) {
  ThreadTeam team(4);
  std::vector<int> calls(4, 0);
  time_together(team, {.first = 1, .count = 2}, 5,
                [&](int number) { ++calls[static_cast<std::size_t>(number)]; });
  EXPECT_EQ(calls, (std::vector<int>{0, 5, 5, 0}));
}

TEST(TeamTime, AFailureEndsItAndNobodyWaitsForever) {
  ThreadTeam team(3);
  int calls = 0;
  EXPECT_THROW(time_together(team, 4,
                             [&](int number) {
                               if (number == 1) {
                                 ++calls;
                                 throw std::runtime_error("x");
                               }
                             }),
               std::runtime_error);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace fleetbench
