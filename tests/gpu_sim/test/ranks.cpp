#include "tests/gpu_sim/test/ranks.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace gpu_sim_test {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kRank = "FLEETBENCH_TEST_RANK";
constexpr const char* kRanks = "FLEETBENCH_TEST_RANKS";
constexpr const char* kGpu = "FLEETBENCH_TEST_GPU";
constexpr const char* kBoard = "FLEETBENCH_TEST_BOARD";

SharedBoard& mapped(int file) {
  void* at = mmap(nullptr, sizeof(SharedBoard), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) {
    std::abort();
  }
  return *static_cast<SharedBoard*>(at);
}

int number_of(const char* variable) { return std::atoi(std::getenv(variable)); }

[[noreturn]] void be_a_rank(const std::function<void(const Rank&)>& body) {
  expect_success(cudaSetDevice(number_of(kGpu)));
  body(Rank(number_of(kRank), number_of(kRanks), mapped(number_of(kBoard))));
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

[[noreturn]] void become_a_rank(const RankPlaces& places, std::size_t rank, int board) {
  setenv(kRank, std::to_string(rank).c_str(), 1);
  setenv(kRanks, std::to_string(places.size()).c_str(), 1);
  setenv(kGpu, std::to_string(places[rank].gpu).c_str(), 1);
  setenv(kBoard, std::to_string(board).c_str(), 1);
  setenv("FLEETBENCH_GPU_SIM_NODE", places[rank].node.c_str(), 1);
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter =
      std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name();
  execl("/proc/self/exe", "gpu_sim_nccl_test", filter.c_str(), nullptr);
  _exit(127);
}

}  // namespace

RankPlaces on_one_node(int ranks) {
  RankPlaces places;
  for (int gpu = 0; gpu < ranks; ++gpu) {
    places.push_back({"node0", gpu});
  }
  return places;
}

RankPlaces on_nodes(int ranks) {
  RankPlaces places;
  for (int node = 0; node < ranks; ++node) {
    places.push_back({"node" + std::to_string(node), 0});
  }
  return places;
}

const ncclUniqueId& Rank::id() const {
  if (rank_ == 0) {
    EXPECT_NCCL(ncclGetUniqueId(&board_.id));
    board_.has_id = 1;
  }
  while (board_.has_id == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return board_.id;
}

void Rank::meet() const {
  const int round = board_.arrived.fetch_add(1) / ranks_;
  while (board_.arrived < (round + 1) * ranks_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Rank::say(std::size_t index, double value) const {
  board_.values[static_cast<std::size_t>(rank_)][index] = value;
}

Outcome on_ranks(const RankPlaces& places, const std::function<void(const Rank&)>& body) {
  if (std::getenv(kRank) != nullptr) {
    be_a_rank(body);
  }
  const int file = memfd_create("board", 0);
  EXPECT_EQ(ftruncate(file, sizeof(SharedBoard)), 0);
  const SharedBoard& board = mapped(file);
  const auto begin = Clock::now();
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    children.push_back(fork());
    if (children.back() == 0) {
      become_a_rank(places, rank, file);
    }
  }
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "of rank " << &child - children.data();
  }
  const std::chrono::duration<double> wall = Clock::now() - begin;
  close(file);
  return {{board.values.begin(), board.values.begin() + static_cast<long>(places.size())},
          wall.count()};
}

ncclResult_t settled(ncclComm_t comm) {
  const auto end = Clock::now() + std::chrono::seconds(20);
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress && Clock::now() < end) {
    EXPECT_NCCL(ncclCommGetAsyncError(comm, &state));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return state;
}

ncclComm_t begun(const Rank& rank) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, rank.ranks(), rank.id(), rank.rank(), &config),
            ncclInProgress);
  return comm;
}

}  // namespace gpu_sim_test
