// Faults of the network and of NCCL, each beside the same without it.
#include <utility>

#include "tests/gpu_sim/test/ranks.hpp"

namespace gpu_sim_test {

namespace {

constexpr std::size_t kCount = std::size_t{1} << 16;  // floats
// Both are of the same links and repetitions, so only the fault tells them apart.
constexpr double kExact = 1e-4;

struct PairSeconds {
  double there, back, both;
};

void say_transfer(const Rank& rank, ncclComm_t comm, std::size_t index, bool sends, bool receives) {
  const Stream stream;
  const DeviceArray<float> data(2 * kCount);
  const Mark begin;
  const Mark end;
  const int other = 1 - rank.rank();
  begin.record(stream);
  EXPECT_NCCL(ncclGroupStart());
  if (sends) {
    EXPECT_NCCL(ncclSend(data.get(), kCount, ncclFloat, other, comm, stream.get()));
  }
  if (receives) {
    EXPECT_NCCL(ncclRecv(data.get() + kCount, kCount, ncclFloat, other, comm, stream.get()));
  }
  EXPECT_NCCL(ncclGroupEnd());
  end.record(stream);
  stream.finish();
  rank.say(index, begin.seconds_until(end));
}

PairSeconds between(const RankPlaces& places) {
  const Outcome outcome = on_ranks(places, [](const Rank& rank) {
    const Comm comm(rank);
    const bool first = rank.rank() == 0;
    say_transfer(rank, comm.get(), 0, first, !first);
    say_transfer(rank, comm.get(), 1, !first, first);
    say_transfer(rank, comm.get(), 2, true, true);
  });
  return {outcome[0][0], outcome[0][1], outcome[0][2]};
}

RankPlaces pair_of(const RankPlace& a, const RankPlace& b) { return {a, b}; }

struct Slower {
  double there, back, both;
};

// By which factors `settings` makes the transfers between two ranks slower.
void expect_slower(const RankPlaces& places, const RankSettings& settings, const Slower& factors) {
  const PairSeconds healthy = between(places);
  const PairSeconds faulty = between(with(places, settings));
  expect_about(faulty.there / healthy.there, factors.there, kExact);
  expect_about(faulty.back / healthy.back, factors.back, kExact);
  // The slower direction decides, which without a fault may be the other one.
  expect_about(faulty.both / healthy.both, factors.both);
}

RankSettings faults(const std::string& rules) { return {{"FLEETBENCH_GPU_SIM_FAULTS", rules}}; }

const RankPlaces kPair = pair_of({"node0", 0}, {"node1", 0});

TEST(NcclFaults, NicsAreSlowInOneOrBothDirections) {
  expect_slower(kPair, faults("node1:0:nic=0.5"), {2, 2, 2});
  expect_slower(kPair, faults("node1:0:nic=0.99"), {1 / 0.99, 1 / 0.99, 1 / 0.99});
  expect_slower(kPair, faults("node1:0:nic_send=0.5"), {1, 2, 2});
  expect_slower(kPair, faults("node1:0:nic_send=0.99"), {1, 1 / 0.99, 1 / 0.99});
  expect_slower(kPair, faults("node1:0:nic_receive=0.5"), {2, 1, 2});
  expect_slower(kPair, faults("node1:0:nic_receive=0.99"), {1 / 0.99, 1, 1 / 0.99});
}

TEST(NcclFaults, NicsSpareOtherRailsAndNvlink) {
  expect_slower(pair_of({"node0", 1}, {"node1", 1}), faults("node1:0:nic=0.5"), {1, 1, 1});
  expect_slower(on_one_node(2), faults("*:0:nic=0.5"), {1, 1, 1});
}

TEST(NcclFaults, LinksAreSlowInOneDirection) {
  expect_slower(kPair, faults("node0:0:link=node1:0.5"), {2, 1, 2});
  expect_slower(kPair, faults("node0:0:link=node1:0.99"), {1 / 0.99, 1, 1 / 0.99});
  expect_slower(kPair, faults("node0:0:link=node2:0.5"), {1, 1, 1});
}

TEST(NcclFaults, NvlinkIsSlowInsideANode) {
  expect_slower(on_one_node(2), faults("node0:1:nvlink=0.5"), {2, 2, 2});
  expect_slower(on_one_node(2), faults("node0:1:nvlink=0.99"), {1 / 0.99, 1 / 0.99, 1 / 0.99});
  expect_slower(on_one_node(2), faults("node0:1:nvlinks_down=9"), {2, 2, 2});
  expect_slower(on_one_node(2), faults("node0:2:nvlink=0.5"), {1, 1, 1});
  expect_slower(kPair, faults("node1:0:nvlink=0.5"), {1, 1, 1});
}

TEST(NcclFaults, SwitchesSlowWhatPassesThem) {
  const auto slow = [](const std::string& factor) {
    return RankSettings{{"FLEETBENCH_GPU_SIM_SWITCHES", "leaf0=node0,node1;leaf1=node2,node3"},
                        {"FLEETBENCH_GPU_SIM_SWITCH_FAULTS", "leaf1=" + factor}};
  };
  expect_slower(pair_of({"node2", 0}, {"node3", 0}), slow("0.5"), {2, 2, 2});
  expect_slower(pair_of({"node0", 0}, {"node3", 0}), slow("0.5"), {2, 2, 2});
  expect_slower(pair_of({"node0", 0}, {"node3", 0}), slow("0.99"), {1 / 0.99, 1 / 0.99, 1 / 0.99});
  expect_slower(pair_of({"node0", 0}, {"node1", 0}), slow("0.5"), {1, 1, 1});
  expect_slower(on_one_node(2), slow("0.5"), {1, 1, 1});
}

double all_reduce_seconds(const RankPlaces& places) {
  return on_ranks(places, [](const Rank& rank) {
    const Comm comm(rank);
    const DeviceArray<float> data(kCount);
    rank.say(0, seconds_of([&](cudaStream_t stream) {
               EXPECT_NCCL(ncclAllReduce(data.get(), data.get(), kCount, ncclFloat, ncclSum,
                                         comm.get(), stream));
             }));
  })[0][0];
}

TEST(NcclFaults, OneSlowNicSlowsTheRing) {
  const double healthy = all_reduce_seconds(on_nodes(4));
  const auto slow = [&](const char* rules) {
    return all_reduce_seconds(with_faults(on_nodes(4), rules)) / healthy;
  };
  // The other links hold it up by up to 2 % as well, so a small fault shows less.
  expect_about(slow("node2:0:nic_send=0.5"), 2, 0.02);
  EXPECT_GT(slow("node2:0:nic=0.97"), 1.01);
  expect_about(slow("node7:0:nic=0.5"), 1, kExact);
}

// How many elements of an all_reduce of ones are wrong on each rank, in each of four calls.
Outcome wrong_elements(const RankPlaces& places) {
  return on_ranks(places, [](const Rank& rank) {
    const Comm comm(rank);
    const Stream stream;
    const DeviceArray<float> in(std::vector<float>(kCount, 1));
    for (std::size_t call = 0; call < 4; ++call) {
      const DeviceArray<float> out(kCount);
      EXPECT_NCCL(
          ncclAllReduce(in.get(), out.get(), kCount, ncclFloat, ncclSum, comm.get(), stream.get()));
      stream.finish();
      int wrong = 0;
      for (const float value : out.values()) {
        wrong += value == static_cast<float>(rank.ranks()) ? 0 : 1;
      }
      rank.say(call, wrong);
    }
  });
}

TEST(NcclFaults, WrongResultsAreOfOneRankFromTheCallOn) {
  const Outcome outcome =
      wrong_elements(with_faults(on_nodes(2), "node1:0:nccl_wrong=all_reduce@3"));
  EXPECT_EQ(outcome[0], wrong_elements(on_nodes(2))[0]);
  EXPECT_EQ(outcome[0][3], 0);
  EXPECT_EQ(outcome[1][0] + outcome[1][1], 0);
  EXPECT_EQ(outcome[1][2], 1);
  EXPECT_EQ(outcome[1][3], 1);
  EXPECT_EQ(wrong_elements(with_faults(on_nodes(2), "node1:0:nccl_wrong=all_gather"))[1][3], 0);
}

TEST(NcclFaults, WrongTransfersAreThoseOfTheFaultyRank) {
  const auto wrong_at_receiver = [](const char* rules) {
    return on_ranks(with_faults(on_nodes(2), rules), [](const Rank& rank) {
      const Comm comm(rank);
      const Stream stream;
      const DeviceArray<float> data(std::vector<float>(kCount, static_cast<float>(rank.rank())));
      if (rank.rank() == 0) {
        EXPECT_NCCL(ncclSend(data.get(), kCount, ncclFloat, 1, comm.get(), stream.get()));
      } else {
        EXPECT_NCCL(ncclRecv(data.get(), kCount, ncclFloat, 0, comm.get(), stream.get()));
      }
      stream.finish();
      int wrong = 0;
      for (const float value : data.values()) {
        wrong += value == 0 ? 0 : 1;
      }
      rank.say(0, wrong);
    })[1][0];
  };
  EXPECT_EQ(wrong_at_receiver("node0:0:nccl_wrong=send"), 1);
  EXPECT_EQ(wrong_at_receiver("node1:0:nccl_wrong=recv"), 1);
  EXPECT_EQ(wrong_at_receiver("node1:0:nccl_wrong=send"), 0);
}

}  // namespace

}  // namespace gpu_sim_test
