// The modelled time of communication, and what slows it. Without fixed parts of times.
#include <algorithm>
#include <set>
#include <thread>

#include "tests/gpu_sim/test/ranks.hpp"

namespace gpu_sim_test {

namespace {

constexpr std::size_t kCount = std::size_t{1} << 16;  // floats
constexpr double kBytes = 4.0 * kCount;
constexpr double kNvlink = 360e9;
constexpr double kNic = 48e9;
// What links and repetitions differ by, at most.
constexpr double kNoise = 0.02;

using Work = void (*)(const Rank&, ncclComm_t, cudaStream_t, float*, float*);

void all_reduce(const Rank&, ncclComm_t comm, cudaStream_t stream, float* in, float* out) {
  EXPECT_NCCL(ncclAllReduce(in, out, kCount, ncclFloat, ncclSum, comm, stream));
}

template <Work work>
void say_seconds(const Rank& rank) {
  const Comm comm(rank);
  const Stream stream;
  const auto ranks = static_cast<std::size_t>(rank.ranks());
  const DeviceArray<float> in(ranks * kCount);
  const DeviceArray<float> out(ranks * kCount);
  const Mark begin;
  const Mark end;
  begin.record(stream);
  for (int i = 0; i < 4; ++i) {
    work(rank, comm.get(), stream.get(), in.get(), out.get());
  }
  end.record(stream);
  stream.finish();
  rank.say(0, begin.seconds_until(end) / 4);
}

// Seconds that one call takes on rank 0, the mean of some; all enter together.
template <Work work>
double seconds_of(const RankPlaces& places, double argument = 0) {
  return on_ranks(places, say_seconds<work>, argument)[0][0];
}

double bus_bytes_per_s(const RankPlaces& places) {
  const auto ranks = static_cast<double>(places.size());
  return kBytes * 2 * (ranks - 1) / ranks / seconds_of<all_reduce>(places);
}

TEST(NcclTime, AllReduceReachesTheModelsBusBandwidth) {
  expect_about(bus_bytes_per_s(on_one_node(2)), kNvlink, kNoise);
  expect_about(bus_bytes_per_s(on_one_node(8)), kNvlink, kNoise);
  expect_about(bus_bytes_per_s(on_nodes(2)), kNic, kNoise);
  expect_about(bus_bytes_per_s(on_nodes(5)), kNic, kNoise);
}

TEST(NcclTime, NodesAddTheirNics) {
  expect_about(bus_bytes_per_s({{"node0", 0}, {"node0", 1}, {"node1", 0}, {"node1", 1}}), 2 * kNic,
               kNoise);
  expect_about(bus_bytes_per_s({{"node0", 0}, {"node1", 1}}), 0.95 * kNic, kNoise);
}

void all_gather(const Rank&, ncclComm_t comm, cudaStream_t stream, float* in, float* out) {
  EXPECT_NCCL(ncclAllGather(in, out, kCount, ncclFloat, comm, stream));
}

void reduce_scatter(const Rank&, ncclComm_t comm, cudaStream_t stream, float* in, float* out) {
  EXPECT_NCCL(ncclReduceScatter(in, out, kCount, ncclFloat, ncclSum, comm, stream));
}

void broadcast(const Rank&, ncclComm_t comm, cudaStream_t stream, float* in, float* out) {
  EXPECT_NCCL(ncclBroadcast(in, out, kCount, ncclFloat, 1, comm, stream));
}

void reduce(const Rank&, ncclComm_t comm, cudaStream_t stream, float* in, float* out) {
  EXPECT_NCCL(ncclReduce(in, out, kCount, ncclFloat, ncclSum, 1, comm, stream));
}

TEST(NcclTime, EachFunctionMovesItsShare) {
  constexpr double kBufferS = kBytes / kNic;
  expect_about(seconds_of<all_gather>(on_nodes(4)), 3 * kBufferS, kNoise);
  expect_about(seconds_of<reduce_scatter>(on_nodes(4)), 3 * kBufferS, kNoise);
  expect_about(seconds_of<broadcast>(on_nodes(4)), kBufferS, kNoise);
  expect_about(seconds_of<reduce>(on_nodes(4)), kBufferS, kNoise);
}

// To each of as many peers behind it as the argument says, and from each before it, in one group.
void exchange(const Rank& rank, ncclComm_t comm, cudaStream_t stream, float* in, float* out) {
  EXPECT_NCCL(ncclGroupStart());
  for (int i = 1; i <= rank.argument(); ++i) {
    const int to = (rank.rank() + i) % rank.ranks();
    const int from = (rank.rank() + rank.ranks() - i) % rank.ranks();
    EXPECT_NCCL(ncclSend(in, kCount, ncclFloat, to, comm, stream));
    EXPECT_NCCL(ncclRecv(out, kCount, ncclFloat, from, comm, stream));
  }
  EXPECT_NCCL(ncclGroupEnd());
}

TEST(NcclTime, TransfersOfAGroupShareTheirWay) {
  for (const int peers : {1, 3}) {
    expect_about(seconds_of<exchange>(on_nodes(4), peers), peers * kBytes / kNic, kNoise);
    expect_about(seconds_of<exchange>(on_one_node(4), peers), peers * kBytes / kNvlink, kNoise);
  }
}

TEST(NcclTime, ShortCallsTakeTheirFixedParts) {
  const auto seconds_with_latency = [](const RankPlaces& places, double bytes_per_s) {
    const auto latency = with(places, {{"FLEETBENCH_GPU_SIM_LATENCY", "1"}});
    return seconds_of<exchange>(latency, 1) - kBytes / bytes_per_s;
  };
  // The first call comes as much later than the mark before it as a call takes.
  constexpr double kCallS = 1.5e-6 / 4;
  expect_about(seconds_with_latency(on_one_node(2), kNvlink), 7e-6 + kCallS, 2 * kNoise);
  expect_about(seconds_with_latency(on_nodes(2), kNic), 11e-6 + kCallS, 2 * kNoise);
  expect_about(seconds_with_latency({{"node0", 0}, {"node1", 1}}, 0.95 * kNic), 12.5e-6 + kCallS,
               2 * kNoise);
}

TEST(NcclTime, RepetitionsAndCommunicatorsDiffer) {
  const Outcome outcome = on_ranks(on_nodes(2), [](const Rank& rank) {
    const Stream stream;
    const DeviceArray<float> data(kCount);
    const Comm comm(rank);
    for (std::size_t i = 0; i < 8; ++i) {
      rank.say(i, gpu_sim_test::seconds_of([&](cudaStream_t own) {
                 all_reduce(rank, comm.get(), own, data.get(), data.get());
               }));
    }
  });
  const std::set<double> different(outcome[0].begin(), outcome[0].begin() + 8);
  EXPECT_GE(different.size(), 7U);
  EXPECT_LT(*different.rbegin() / *different.begin(), 1.02);
}

// When a rank enters an all_reduce and leaves it, after one in which all left together; with
// `before(stream)` in between.
template <typename Before, typename Wait>
void say_enter_and_leave(const Rank& rank, Before before, Wait wait) {
  const Comm comm(rank);
  const Stream stream;
  const DeviceArray<float> data(kCount);
  const Mark zero;
  const Mark enter;
  const Mark leave;
  all_reduce(rank, comm.get(), stream.get(), data.get(), data.get());
  zero.record(stream);
  wait(stream, zero);
  before(stream.get());
  enter.record(stream);
  all_reduce(rank, comm.get(), stream.get(), data.get(), data.get());
  leave.record(stream);
  wait(stream, leave);
  rank.say(0, zero.seconds_until(enter));
  rank.say(1, zero.seconds_until(leave));
}

void finish(const Stream& stream, const Mark&) { stream.finish(); }

void ask_until_done(const Stream&, const Mark& mark) {
  while (cudaEventQuery(mark.get()) == cudaErrorNotReady) {
  }
}

constexpr double kAllReduceS = kBytes / kNic;

TEST(NcclTime, WhoComesLateIsWaitedFor) {
  const Outcome outcome = on_ranks(on_nodes(3), [](const Rank& rank) {
    constexpr std::size_t kMany = std::size_t{64} << 20;
    const DeviceArray<std::byte> data(kMany);
    say_enter_and_leave(
        rank,
        [&](cudaStream_t stream) {
          if (rank.rank() == 1) {
            expect_success(cudaMemsetAsync(data.get(), 1, kMany, stream));
          }
        },
        finish);
  });
  const double late = outcome[1][0];
  EXPECT_GT(late, 10e-6);
  EXPECT_LT(outcome[0][0], 1e-6);
  for (const auto& rank : outcome) {
    expect_about(rank[1], late + 4.0 / 3 * kAllReduceS, 0.05);
  }
}

// Sleeps in between for as many real milliseconds as the argument says, on all ranks but the first.
template <typename Wait>
void say_with_pause(const Rank& rank, Wait wait) {
  say_enter_and_leave(
      rank,
      [&](cudaStream_t) {
        std::this_thread::sleep_for(
            std::chrono::milliseconds(rank.rank() * static_cast<int>(rank.argument())));
      },
      wait);
}

TEST(NcclTime, DoesNotDependOnThisMachine) {
  const RankBody waiting = [](const Rank& rank) { say_with_pause(rank, finish); };
  const RankBody asking = [](const Rank& rank) { say_with_pause(rank, ask_until_done); };
  const Outcome quick = on_ranks(on_nodes(2), waiting, 0);
  expect_about(quick[0][1], kAllReduceS, kNoise);
  EXPECT_EQ(quick, on_ranks(on_nodes(2), waiting, 20));
  EXPECT_EQ(quick, on_ranks(on_nodes(2), asking, 20));
}

TEST(NcclTime, LateRanksEnterLateAndLeaveWithTheOthers) {
  for (const auto& [setting, late_s] : {std::pair("0.005", 0.005), std::pair("0.00001", 0.00001)}) {
    const auto places = with_faults(on_nodes(2), std::string("node1:0:nccl_late=") + setting);
    const Outcome outcome = on_ranks(places, [](const Rank& rank) {
      say_enter_and_leave(
          rank, [](cudaStream_t) {}, finish);
    });
    EXPECT_LT(outcome[0][0], 1e-6);
    expect_about(outcome[1][0], late_s, 0.01);
    expect_about(outcome[0][1], late_s + kAllReduceS, kNoise);
    EXPECT_NEAR(outcome[1][1], outcome[0][1], 1e-8);
  }
}

}  // namespace

}  // namespace gpu_sim_test
