// How communicators come into being, go, and fail.
#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include "tests/gpu_sim/test/ranks.hpp"

namespace gpu_sim_test {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kCount = 1000;

// Threads and open files of this process.
std::size_t entries_of(const char* folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(opendir(folder), closedir);
  std::size_t count = 0;
  while (readdir(opened.get()) != nullptr) {
    ++count;
  }
  return count;
}

struct Held {
  std::size_t threads = entries_of("/proc/self/task");
  std::size_t files = entries_of("/proc/self/fd");
  bool operator==(const Held&) const = default;

  // Whether this process holds as much again. A thread that has been joined may be seen for a
  // moment.
  bool is_restored() const {
    for (int i = 0; i < 1000 && !(Held() == *this); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return Held() == *this;
  }
};

std::string last_error() { return ncclGetLastError(nullptr); }

ncclResult_t enqueue_all_reduce(const DeviceArray<float>& data, ncclComm_t comm,
                                const Stream& stream, std::size_t count = kCount) {
  return ncclAllReduce(data.get(), data.get(), count, ncclFloat, ncclSum, comm, stream.get());
}

void expect_all_reduce(ncclComm_t comm) {
  const Stream stream;
  const DeviceArray<float> data(kCount);
  EXPECT_NCCL(enqueue_all_reduce(data, comm, stream));
  stream.finish();
}

TEST(NcclLife, LeavesNoThreadAndNoSocket) {
  on_ranks(on_one_node(2), [](const Rank& rank) {
    const Held before;
    for (const bool finalizes : {true, false}) {
      ncclComm_t comm = nullptr;
      EXPECT_NCCL(ncclCommInitRank(&comm, 2, rank.id(), rank.rank()));
      EXPECT_FALSE(Held() == before);
      expect_all_reduce(comm);
      if (finalizes) {
        EXPECT_NCCL(ncclCommFinalize(comm));
      }
      EXPECT_NCCL(ncclCommDestroy(comm));
      EXPECT_TRUE(before.is_restored());
    }
  });
}

TEST(NcclLife, WithoutBlocking) {
  on_ranks(on_one_node(2), [](const Rank& rank) {
    const Held before;
    if (rank.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ncclComm_t comm = begun(rank);
    int count = 0;
    if (rank.rank() == 0) {
      EXPECT_EQ(ncclCommCount(comm, &count), ncclInvalidArgument);
      EXPECT_NE(last_error().find("before the previous operation"), std::string::npos);
    }
    EXPECT_EQ(settled(comm), ncclSuccess);
    EXPECT_NCCL(ncclCommCount(comm, &count));
    const Stream stream;
    const DeviceArray<float> data(kCount);
    EXPECT_EQ(enqueue_all_reduce(data, comm, stream), ncclInProgress);
    EXPECT_EQ(enqueue_all_reduce(data, comm, stream), ncclInvalidArgument);
    EXPECT_EQ(settled(comm), ncclSuccess);
    stream.finish();
    EXPECT_EQ(ncclCommFinalize(comm), ncclInProgress);
    EXPECT_EQ(settled(comm), ncclSuccess);
    EXPECT_NCCL(ncclCommDestroy(comm));
    EXPECT_TRUE(before.is_restored());
  });
}

TEST(NcclLife, FinalizeWaitsForWhatWasLaunched) {
  on_ranks(on_one_node(2), [](const Rank& rank) {
    ncclComm_t comm = begun(rank);
    EXPECT_EQ(settled(comm), ncclSuccess);
    const Stream stream;
    const Mark end;
    const DeviceArray<float> data(kCount);
    EXPECT_EQ(enqueue_all_reduce(data, comm, stream), ncclInProgress);
    EXPECT_EQ(settled(comm), ncclSuccess);
    end.record(stream);
    EXPECT_EQ(ncclCommFinalize(comm), ncclInProgress);
    EXPECT_EQ(settled(comm), ncclSuccess);
    expect_success(cudaEventQuery(end.get()));
    EXPECT_NCCL(ncclCommDestroy(comm));
  });
}

TEST(NcclLife, TwoCommunicatorsAtOnce) {
  on_ranks(on_one_node(2), [](const Rank& rank) {
    const Comm first(rank);
    const Comm second(rank);
    expect_all_reduce(first.get());
    expect_all_reduce(second.get());
  });
}

// A GPU of a process that has more of them.
struct OwnGpu {
  explicit OwnGpu(int gpu) {
    expect_success(cudaSetDevice(gpu));
    stream = std::make_unique<Stream>();
    data = std::make_unique<DeviceArray<float>>(std::vector<float>(kCount, 1));
  }
  ncclComm_t comm = nullptr;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<DeviceArray<float>> data;
};

TEST(NcclLife, OneThreadWithTwoGpusInGroups) {
  on_ranks(on_one_node(1), [](const Rank& rank) {
    std::array<OwnGpu, 2> gpus{OwnGpu(0), OwnGpu(1)};
    const ncclUniqueId id = rank.id();
    EXPECT_NCCL(ncclGroupStart());
    for (int gpu = 0; gpu < 2; ++gpu) {
      expect_success(cudaSetDevice(gpu));
      EXPECT_NCCL(ncclCommInitRank(&gpus.at(static_cast<std::size_t>(gpu)).comm, 2, id, gpu));
    }
    EXPECT_NCCL(ncclGroupEnd());
    EXPECT_NCCL(ncclGroupStart());
    for (const OwnGpu& gpu : gpus) {
      EXPECT_NCCL(enqueue_all_reduce(*gpu.data, gpu.comm, *gpu.stream));
    }
    EXPECT_NCCL(ncclGroupEnd());
    for (const OwnGpu& gpu : gpus) {
      gpu.stream->finish();
      EXPECT_EQ(gpu.data->values()[kCount - 1], 2);
    }
    for (const OwnGpu& gpu : gpus) {
      EXPECT_NCCL(ncclCommAbort(gpu.comm));
    }
  });
}

// Ends a communicator that does not go on, and says how long that took.
void expect_to_abort_at_once(ncclComm_t comm) {
  const auto begin = Clock::now();
  EXPECT_NCCL(ncclCommAbort(comm));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(1));
}

// node0:1:nccl_hang=all_reduce@2
void hang_in_the_second(const Rank& rank) {
  const Held before;
  ncclComm_t comm = begun(rank);
  EXPECT_EQ(settled(comm), ncclSuccess);
  {
    const Stream stream;
    const Mark end;
    const DeviceArray<float> data(kCount);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(enqueue_all_reduce(data, comm, stream), ncclInProgress);
      EXPECT_EQ(settled(comm), ncclSuccess);
      end.record(stream);
      if (i == 0) {
        stream.finish();
      }
    }
    const auto deadline = Clock::now() + std::chrono::milliseconds(300);
    while (Clock::now() < deadline) {
      EXPECT_EQ(cudaEventQuery(end.get()), cudaErrorNotReady);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(settled(comm), ncclSuccess);
    rank.meet();
    expect_to_abort_at_once(comm);
    expect_success(cudaEventSynchronize(end.get()));
    stream.finish();
  }
  EXPECT_TRUE(before.is_restored());
}

TEST(NcclLife, AbortEndsAHang) {
  on_ranks(with_faults(on_one_node(3), "node0:1:nccl_hang=all_reduce@2"), hang_in_the_second);
}

TEST(NcclLife, AbortEndsWhatAnotherThreadWaitsFor) {
  on_ranks(with_faults(on_one_node(2), "node0:1:nccl_hang=all_reduce"), [](const Rank& rank) {
    ncclComm_t comm = nullptr;
    EXPECT_NCCL(ncclCommInitRank(&comm, 2, rank.id(), rank.rank()));
    const Stream stream;
    const DeviceArray<float> data(kCount);
    EXPECT_NCCL(enqueue_all_reduce(data, comm, stream));
    std::thread waiting([&] { stream.finish(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    rank.meet();
    expect_to_abort_at_once(comm);
    waiting.join();
  });
}

TEST(NcclLife, InitialisationHangs) {
  on_ranks(with_faults(on_nodes(2), "node1:0:nccl_init=hang"), [](const Rank& rank) {
    const Held before;
    ncclComm_t comm = begun(rank);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ncclResult_t state = ncclSuccess;
    EXPECT_NCCL(ncclCommGetAsyncError(comm, &state));
    EXPECT_EQ(state, ncclInProgress);
    rank.meet();
    expect_to_abort_at_once(comm);
    EXPECT_TRUE(before.is_restored());
  });
}

TEST(NcclLife, InitialisationFails) {
  on_ranks(with_faults(on_nodes(2), "node1:0:nccl_init=fail"), [](const Rank& rank) {
    const Held before;
    ncclComm_t comm = begun(rank);
    if (rank.rank() == 1) {
      EXPECT_EQ(settled(comm), ncclSystemError);
      EXPECT_NE(last_error().find("ibv_modify_qp"), std::string::npos);
    }
    rank.meet();
    expect_to_abort_at_once(comm);
    EXPECT_TRUE(before.is_restored());
    const ncclUniqueId id = rank.id();
    if (rank.rank() == 1) {
      ncclComm_t blocking = nullptr;
      EXPECT_EQ(ncclCommInitRank(&blocking, 2, id, 1), ncclSystemError);
      EXPECT_EQ(blocking, nullptr);
    }
  });
}

// The rank that the argument names dies.
void notice_a_death(const Rank& rank) {
  ncclComm_t comm = begun(rank);
  EXPECT_EQ(settled(comm), ncclSuccess);
  rank.meet();
  if (rank.rank() == rank.argument()) {
    _exit(0);
  }
  const auto end = Clock::now() + std::chrono::seconds(20);
  while (settled(comm) == ncclSuccess && Clock::now() < end) {
  }
  EXPECT_EQ(settled(comm), ncclRemoteError);
  // Where the ranks met, there is nobody left to say who it was.
  const char* what = rank.argument() == 0 ? "closed by remote peer" : "rank 1 (node1/gpu0)";
  EXPECT_NE(last_error().find(what), std::string::npos) << last_error();
  expect_to_abort_at_once(comm);
}

TEST(NcclLife, WhoDiesIsNoticed) {
  on_ranks(on_nodes(3), notice_a_death, 0);
  on_ranks(on_nodes(3), notice_a_death, 1);
}

TEST(NcclLife, CallsThatDoNotFitAreSaidLoudly) {
  on_ranks(on_nodes(2), [](const Rank& rank) {
    ncclComm_t comm = begun(rank);
    EXPECT_EQ(settled(comm), ncclSuccess);
    const Stream stream;
    const DeviceArray<float> data(kCount);
    const std::size_t count = kCount - static_cast<std::size_t>(rank.rank());
    EXPECT_EQ(enqueue_all_reduce(data, comm, stream, count), ncclInProgress);
    EXPECT_EQ(cudaStreamQuery(stream.get()), cudaErrorNotReady);
    const auto end = Clock::now() + std::chrono::seconds(20);
    while (settled(comm) == ncclSuccess && Clock::now() < end) {
    }
    EXPECT_EQ(settled(comm), ncclInvalidUsage);
    for (const char* part : {"collective 1", "all_reduce of 1000 float32", "of 999"}) {
      EXPECT_NE(last_error().find(part), std::string::npos) << last_error();
    }
    rank.meet();
    expect_to_abort_at_once(comm);
    stream.finish();
  });
}

void expect_init_refused(const Rank& rank) {
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRank(&comm, 2, rank.id(), rank.rank()), ncclInvalidUsage);
  EXPECT_NE(last_error().find(rank.argument() == 0 ? "Mismatched NCCL version" : "Duplicate GPU"),
            std::string::npos)
      << last_error();
}

TEST(NcclLife, RanksThatDoNotFitAreRefused) {
  RankPlaces places = on_nodes(2);
  places[1].settings["FLEETBENCH_GPU_SIM_NCCL_VERSION"] = "2.27.7";
  on_ranks(places, expect_init_refused, 0);
  on_ranks({{"node0", 3}, {"node0", 3}}, expect_init_refused, 1);
}

TEST(NcclLife, TheAddressIsOfTheInterfaceThatIsNamed) {
  on_ranks(with(on_nodes(2), {{"NCCL_SOCKET_IFNAME", "lo"}}), [](const Rank& rank) {
    const Comm comm(rank);
    expect_all_reduce(comm.get());
  });
  on_ranks(with(on_nodes(1), {{"NCCL_SOCKET_IFNAME", "nothing"}}), [](const Rank&) {
    ncclUniqueId id{};
    EXPECT_EQ(ncclGetUniqueId(&id), ncclInvalidUsage);
    EXPECT_NE(last_error().find("no socket interface found"), std::string::npos);
  });
}

}  // namespace

}  // namespace gpu_sim_test
