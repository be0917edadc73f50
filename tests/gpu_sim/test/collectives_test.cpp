// What each function of NCCL leaves in the buffers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <tuple>

#include "tests/gpu_sim/test/ranks.hpp"

namespace gpu_sim_test {

namespace {

constexpr std::size_t kCount = 1000;

// What `rank` gives: small whole numbers, of which also products are exact in most types.
template <typename T>
std::vector<T> given(int rank, std::size_t count = kCount) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(static_cast<float>((i + 3 * static_cast<std::size_t>(rank)) % 5));
  }
  return values;
}

template <typename T>
T combined(T a, T b, ncclRedOp_t op) {
  const auto x = static_cast<double>(static_cast<float>(a));
  const auto y = static_cast<double>(static_cast<float>(b));
  const double result = op == ncclSum    ? x + y
                        : op == ncclProd ? x * y
                        : op == ncclMax  ? std::max(x, y)
                                         : std::min(x, y);
  return static_cast<T>(static_cast<float>(result));
}

template <typename T>
std::vector<T> reduced(int ranks, ncclRedOp_t op, std::size_t count = kCount) {
  std::vector<T> result = given<T>(0, count);
  for (int rank = 1; rank < ranks; ++rank) {
    const std::vector<T> next = given<T>(rank, count);
    for (std::size_t i = 0; i < count; ++i) {
      result[i] = combined(result[i], next[i], op);
    }
  }
  return result;
}

template <typename T>
void expect_same(const std::vector<T>& values, const std::vector<T>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  EXPECT_EQ(std::memcmp(values.data(), expected.data(), values.size() * sizeof(T)), 0);
}

template <typename T>
void expect_all_reduce(const Rank& rank, ncclComm_t comm, ncclDataType_t type) {
  for (const ncclRedOp_t op : {ncclSum, ncclProd, ncclMax, ncclMin}) {
    const Stream stream;
    const DeviceArray<T> in(given<T>(rank.rank()));
    const DeviceArray<T> out(kCount);
    EXPECT_NCCL(ncclAllReduce(in.get(), out.get(), kCount, type, op, comm, stream.get()));
    stream.finish();
    SCOPED_TRACE("type " + std::to_string(type) + ", op " + std::to_string(op));
    expect_same(out.values(), reduced<T>(rank.ranks(), op));
    expect_same(in.values(), given<T>(rank.rank()));
  }
}

TEST(NcclCollectives, AllReduceOfEachTypeAndOperation) {
  on_ranks(on_one_node(3), [](const Rank& rank) {
    const Comm comm(rank);
    expect_all_reduce<std::int8_t>(rank, comm.get(), ncclInt8);
    expect_all_reduce<std::uint8_t>(rank, comm.get(), ncclUint8);
    expect_all_reduce<std::int32_t>(rank, comm.get(), ncclInt32);
    expect_all_reduce<std::uint32_t>(rank, comm.get(), ncclUint32);
    expect_all_reduce<std::int64_t>(rank, comm.get(), ncclInt64);
    expect_all_reduce<std::uint64_t>(rank, comm.get(), ncclUint64);
    expect_all_reduce<__half>(rank, comm.get(), ncclFloat16);
    expect_all_reduce<float>(rank, comm.get(), ncclFloat32);
    expect_all_reduce<double>(rank, comm.get(), ncclFloat64);
    expect_all_reduce<__nv_bfloat16>(rank, comm.get(), ncclBfloat16);
  });
}

void expect_gathers(const Rank& rank, ncclComm_t comm, const Stream& stream) {
  const auto ranks = static_cast<std::size_t>(rank.ranks());
  const DeviceArray<float> in(given<float>(rank.rank()));
  const DeviceArray<float> all(ranks * kCount);
  EXPECT_NCCL(ncclAllGather(in.get(), all.get(), kCount, ncclFloat, comm, stream.get()));
  stream.finish();
  std::vector<float> expected;
  for (int one = 0; one < rank.ranks(); ++one) {
    const std::vector<float> part = given<float>(one);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  expect_same(all.values(), expected);

  const DeviceArray<float> wide(given<float>(rank.rank(), ranks * kCount));
  const DeviceArray<float> part(kCount);
  EXPECT_NCCL(
      ncclReduceScatter(wide.get(), part.get(), kCount, ncclFloat, ncclSum, comm, stream.get()));
  stream.finish();
  const std::vector<float> sums = reduced<float>(rank.ranks(), ncclSum, ranks * kCount);
  const auto begin = sums.begin() + static_cast<long>(kCount) * rank.rank();
  expect_same(part.values(), std::vector<float>(begin, begin + static_cast<long>(kCount)));
}

void expect_rooted(const Rank& rank, ncclComm_t comm, const Stream& stream, int root) {
  const std::vector<double> before(kCount, -1);
  const DeviceArray<double> in(given<double>(rank.rank()));
  const DeviceArray<double> out(before);
  EXPECT_NCCL(
      ncclReduce(in.get(), out.get(), kCount, ncclDouble, ncclSum, root, comm, stream.get()));
  stream.finish();
  expect_same(out.values(), rank.rank() == root ? reduced<double>(rank.ranks(), ncclSum) : before);
  EXPECT_NCCL(ncclBroadcast(in.get(), out.get(), kCount, ncclDouble, root, comm, stream.get()));
  stream.finish();
  expect_same(out.values(), given<double>(root));
}

void expect_in_place(const Rank& rank, ncclComm_t comm, const Stream& stream) {
  const DeviceArray<float> data(given<float>(rank.rank()));
  EXPECT_NCCL(
      ncclAllReduce(data.get(), data.get(), kCount, ncclFloat, ncclSum, comm, stream.get()));
  stream.finish();
  expect_same(data.values(), reduced<float>(rank.ranks(), ncclSum));
}

// Each sends to all, itself too, in one group: all_to_all of nccl-tests.
void expect_all_to_all(const Rank& rank, ncclComm_t comm, const Stream& stream) {
  const auto ranks = static_cast<std::size_t>(rank.ranks());
  const DeviceArray<float> in(given<float>(rank.rank(), ranks * kCount));
  const DeviceArray<float> out(ranks * kCount);
  EXPECT_NCCL(ncclGroupStart());
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    const int other = static_cast<int>(peer);
    EXPECT_NCCL(ncclSend(in.get() + peer * kCount, kCount, ncclFloat, other, comm, stream.get()));
    EXPECT_NCCL(ncclRecv(out.get() + peer * kCount, kCount, ncclFloat, other, comm, stream.get()));
  }
  EXPECT_NCCL(ncclGroupEnd());
  stream.finish();
  std::vector<float> expected;
  for (int peer = 0; peer < rank.ranks(); ++peer) {
    const std::vector<float> all = given<float>(peer, ranks * kCount);
    const auto begin = all.begin() + static_cast<long>(kCount) * rank.rank();
    expected.insert(expected.end(), begin, begin + static_cast<long>(kCount));
  }
  expect_same(out.values(), expected);
}

void expect_all(const Rank& rank) {
  const Comm comm(rank);
  const Stream stream;
  int value = -1;
  EXPECT_NCCL(ncclCommCount(comm.get(), &value));
  EXPECT_EQ(value, rank.ranks());
  EXPECT_NCCL(ncclCommUserRank(comm.get(), &value));
  EXPECT_EQ(value, rank.rank());
  expect_gathers(rank, comm.get(), stream);
  for (int root = 0; root < rank.ranks(); ++root) {
    expect_rooted(rank, comm.get(), stream, root);
  }
  expect_in_place(rank, comm.get(), stream);
  expect_all_to_all(rank, comm.get(), stream);
}

TEST(NcclCollectives, OfOneRank) { on_ranks(on_one_node(1), expect_all); }
TEST(NcclCollectives, OfTwoNodes) { on_ranks(on_nodes(2), expect_all); }
TEST(NcclCollectives, OfThreeGpus) { on_ranks(on_one_node(3), expect_all); }
TEST(NcclCollectives, OfTwoNodesWithTwoGpus) {
  on_ranks({{"node0", 0}, {"node0", 1}, {"node1", 0}, {"node1", 1}}, expect_all);
}

TEST(NcclCollectives, RoundInTheOrderOfRanks) {
  on_ranks(on_one_node(3), [](const Rank& rank) {
    // From the left it is 1, with any other order it is not.
    constexpr std::array<float, 3> kValues{1e8F, -1e8F, 1};
    const Comm comm(rank);
    const Stream stream;
    const DeviceArray<float> data(
        std::vector<float>{kValues[static_cast<std::size_t>(rank.rank())]});
    EXPECT_NCCL(
        ncclAllReduce(data.get(), data.get(), 1, ncclFloat, ncclSum, comm.get(), stream.get()));
    stream.finish();
    EXPECT_EQ(data.values()[0], 1);
  });
}

TEST(NcclCollectives, OfMegabytes) {
  on_ranks(on_one_node(2), [](const Rank& rank) {
    constexpr std::size_t kMany = std::size_t{4} << 20;
    const Comm comm(rank);
    const Stream stream;
    const DeviceArray<float> data(given<float>(rank.rank(), kMany));
    EXPECT_NCCL(
        ncclAllReduce(data.get(), data.get(), kMany, ncclFloat, ncclSum, comm.get(), stream.get()));
    stream.finish();
    expect_same(data.values(), reduced<float>(2, ncclSum, kMany));
  });
}

TEST(NcclCollectives, FollowTheirStream) {
  on_ranks(on_one_node(2), [](const Rank& rank) {
    const Comm comm(rank);
    const Stream stream;
    const DeviceArray<std::int32_t> data(kCount);
    expect_success(cudaMemsetAsync(data.get(), 0, data.bytes(), stream.get()));
    Gate gate(stream);
    expect_success(cudaMemsetAsync(data.get(), 1, data.bytes(), stream.get()));
    for (int i = 0; i < 3; ++i) {
      EXPECT_NCCL(ncclAllReduce(data.get(), data.get(), kCount, ncclInt, ncclSum, comm.get(),
                                stream.get()));
    }
    const PinnedArray<std::int32_t> host(kCount);
    expect_success(cudaMemcpyAsync(host.get(), data.get(), data.bytes(), cudaMemcpyDeviceToHost,
                                   stream.get()));
    EXPECT_EQ(cudaStreamQuery(stream.get()), cudaErrorNotReady);
    gate.release();
    stream.finish();
    EXPECT_EQ(host[0], 8 * 0x01010101);
    EXPECT_EQ(host[kCount - 1], 8 * 0x01010101);
  });
}

TEST(NcclCollectives, ComeToAnEndWhereTheyAreAskedFor) {
  on_ranks(on_one_node(2), [](const Rank& rank) {
    const Comm comm(rank);
    const Stream stream;
    const Mark end;
    const DeviceArray<float> data(given<float>(rank.rank()));
    EXPECT_NCCL(ncclAllReduce(data.get(), data.get(), kCount, ncclFloat, ncclSum, comm.get(),
                              stream.get()));
    end.record(stream);
    while (cudaEventQuery(end.get()) == cudaErrorNotReady) {
    }
    expect_same(data.values(), reduced<float>(2, ncclSum));
  });
}

}  // namespace

}  // namespace gpu_sim_test
