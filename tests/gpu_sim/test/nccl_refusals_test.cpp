// What NCCL refuses, and what a program that forgets something leaves behind.
#include <cstdio>
#include <cstdlib>

#include "tests/gpu_sim/test/ranks.hpp"

namespace gpu_sim_test {

namespace {

std::string last_error() { return ncclGetLastError(nullptr); }

TEST(NcclRefusals, OfInitialisation) {
  on_ranks(on_one_node(1), [](const Rank& rank) {
    ncclComm_t comm = nullptr;
    const ncclUniqueId id = rank.id();
    ncclUniqueId no_id{};
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    EXPECT_EQ(ncclGetUniqueId(nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommInitRank(nullptr, 1, id, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommInitRank(&comm, 1, no_id, 0), ncclInvalidArgument);
    for (const auto& [ranks, wrong] : {std::pair(1, 1), std::pair(2, -1), std::pair(0, 0)}) {
      EXPECT_EQ(ncclCommInitRank(&comm, ranks, id, wrong), ncclInvalidArgument);
    }
    EXPECT_EQ(last_error(), "Invalid rank requested : 0/0");
    config.blocking = 2;
    EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
    config = {};
    EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
    EXPECT_EQ(comm, nullptr);
    EXPECT_NCCL(ncclCommInitRank(&comm, 1, id, 0));
    EXPECT_NCCL(ncclCommDestroy(comm));
    EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidArgument);
    EXPECT_EQ(ncclCommAbort(comm), ncclInvalidArgument);
    EXPECT_NCCL(ncclCommDestroy(nullptr));
  });
}

TEST(NcclRefusals, OfCalls) {
  on_ranks(on_one_node(1), [](const Rank& rank) {
    const Comm comm(rank);
    const Stream stream;
    const DeviceArray<float> data(10);
    float* at = data.get();
    const auto all_reduce = [&](ncclDataType_t type, ncclRedOp_t op, ncclComm_t whose) {
      return ncclAllReduce(at, at, 10, type, op, whose, stream.get());
    };
    EXPECT_EQ(all_reduce(ncclFloat, ncclSum, nullptr), ncclInvalidArgument);
    EXPECT_EQ(last_error(), "AllReduce : comm argument is NULL");
    EXPECT_EQ(all_reduce(ncclNumTypes, ncclSum, comm.get()), ncclInvalidArgument);
    EXPECT_EQ(last_error(), "AllReduce : invalid type 12");
    EXPECT_EQ(all_reduce(ncclFloat, ncclNumOps, comm.get()), ncclInvalidArgument);
    EXPECT_EQ(last_error(), "AllReduce : invalid reduction operation 5");
    EXPECT_EQ(all_reduce(ncclFloat, ncclAvg, comm.get()), ncclInvalidArgument);
    EXPECT_EQ(ncclBroadcast(at, at, 10, ncclFloat, 1, comm.get(), stream.get()),
              ncclInvalidArgument);
    EXPECT_EQ(last_error(), "Broadcast : invalid root 1 (root should be in the 0..0 range)");
    EXPECT_EQ(ncclSend(at, 10, ncclFloat, -1, comm.get(), stream.get()), ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_EQ(all_reduce(ncclNumTypes, ncclSum, comm.get()), ncclInvalidArgument);
    EXPECT_NCCL(all_reduce(ncclFloat, ncclSum, comm.get()));
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    EXPECT_EQ(ncclCommCount(comm.get(), nullptr), ncclInvalidArgument);
    EXPECT_NCCL(ncclAllReduce(at, at, 0, ncclFloat, ncclSum, comm.get(), stream.get()));
    stream.finish();
  });
}

TEST(NcclRefusals, OfStreamsOfOtherDevices) {
  on_ranks(on_one_node(1), [](const Rank& rank) {
    const Comm comm(rank);
    const DeviceArray<float> data(10);
    expect_success(cudaSetDevice(1));
    const Stream elsewhere;
    EXPECT_EQ(
        ncclAllReduce(data.get(), data.get(), 10, ncclFloat, ncclSum, comm.get(), elsewhere.get()),
        ncclUnhandledCudaError);
  });
}

TEST(NcclRefusals, MemoryThatIsNotThere) {
  on_ranks(on_one_node(1), [](const Rank& rank) {
    const Stream stream;
    const DeviceArray<float> data(10);
    ncclComm_t comm = nullptr;
    EXPECT_NCCL(ncclCommInitRank(&comm, 1, rank.id(), 0));
    EXPECT_NCCL(ncclAllReduce(data.get(), data.get(), 11, ncclFloat, ncclSum, comm, stream.get()));
    EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaErrorIllegalAddress);
    EXPECT_EQ(ncclAllReduce(data.get(), data.get(), 10, ncclFloat, ncclSum, comm, stream.get()),
              ncclUnhandledCudaError);
    EXPECT_NCCL(ncclCommAbort(comm));
  });
}

TEST(NcclRefusals, AreNamed) {
  EXPECT_STREQ(ncclGetErrorString(ncclSuccess), "no error");
  EXPECT_STREQ(ncclGetErrorString(ncclRemoteError),
               "remote process exited or there was a network error");
  EXPECT_STREQ(ncclGetErrorString(ncclNumResults), "unknown result code");
}

int version() {
  int version = 0;
  EXPECT_NCCL(ncclGetVersion(&version));
  return version;
}

TEST(NcclRefusals, TheVersionIsTheOneThatIsSet) {
  on_ranks(on_one_node(1), [](const Rank&) { EXPECT_EQ(version(), 22809); });
  on_ranks(with(on_one_node(1), {{"FLEETBENCH_GPU_SIM_NCCL_VERSION", "2.27.3"}}),
           [](const Rank&) { EXPECT_EQ(version(), 22703); });
}

// FLEETBENCH_GPU_SIM_LEAKS names a file of the build folder.
TEST(NcclLeaks, AreWrittenDown) {
  const std::string file = std::getenv("FLEETBENCH_GPU_SIM_LEAKS");
  std::remove(file.c_str());
  on_ranks(on_nodes(2), [](const Rank& rank) { const Comm comm(rank); });
  EXPECT_EQ(content(file), "");
  on_ranks(on_nodes(2), [](const Rank& rank) {
    ncclComm_t comm = nullptr;
    EXPECT_NCCL(ncclCommInitRank(&comm, 2, rank.id(), rank.rank()));
  });
  EXPECT_NE(content(file).find(": 1 NCCL communicator\n"), std::string::npos) << content(file);
  std::remove(file.c_str());
}

}  // namespace

}  // namespace gpu_sim_test
