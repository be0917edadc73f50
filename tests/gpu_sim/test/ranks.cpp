#include "tests/gpu_sim/test/ranks.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace gpu_sim_test {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kRank = "FLEETBENCH_TEST_RANK";
constexpr const char* kRanks = "FLEETBENCH_TEST_RANKS";
constexpr const char* kGpu = "FLEETBENCH_TEST_GPU";
constexpr const char* kBody = "FLEETBENCH_TEST_BODY";
constexpr const char* kBoard = "FLEETBENCH_TEST_BOARD";

SharedBoard& mapped(int file) {
  void* at = mmap(nullptr, sizeof(SharedBoard), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) {
    std::abort();
  }
  return *static_cast<SharedBoard*>(at);
}

int number_of(const char* variable) { return std::atoi(std::getenv(variable)); }

// Where the code of this program begins differs from process to process.
void anchor(const Rank&) {}

[[noreturn]] void be_a_rank() {
  const auto body = reinterpret_cast<RankBody>(reinterpret_cast<std::intptr_t>(&anchor) +
                                               std::atol(std::getenv(kBody)));
  expect_success(cudaSetDevice(number_of(kGpu)));
  body(Rank(number_of(kRank), number_of(kRanks), mapped(number_of(kBoard))));
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

[[noreturn]] void become_a_rank(const RankPlaces& places, std::size_t rank, RankBody body,
                                int board) {
  setenv(kRank, std::to_string(rank).c_str(), 1);
  setenv(kRanks, std::to_string(places.size()).c_str(), 1);
  setenv(kGpu, std::to_string(places[rank].gpu).c_str(), 1);
  const auto offset =
      reinterpret_cast<std::intptr_t>(body) - reinterpret_cast<std::intptr_t>(&anchor);
  setenv(kBody, std::to_string(offset).c_str(), 1);
  setenv(kBoard, std::to_string(board).c_str(), 1);
  setenv("FLEETBENCH_GPU_SIM_NODE", places[rank].node.c_str(), 1);
  for (const auto& [name, value] : places[rank].settings) {
    setenv(name.c_str(), value.c_str(), 1);
  }
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

RankPlaces with(RankPlaces places, const RankSettings& settings) {
  for (RankPlace& place : places) {
    place.settings.insert(settings.begin(), settings.end());
  }
  return places;
}

RankPlaces with_faults(RankPlaces places, const std::string& faults) {
  return with(std::move(places), {{"FLEETBENCH_GPU_SIM_FAULTS", faults}});
}

const ncclUniqueId& Rank::id() const {
  ncclUniqueId& id = board_.ids.at(static_cast<std::size_t>(asked_++));
  if (rank_ == 0) {
    EXPECT_NCCL(ncclGetUniqueId(&id));
    board_.made = asked_;
  }
  while (board_.made < asked_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return id;
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

Outcome on_ranks(const RankPlaces& places, RankBody body, double argument) {
  if (std::getenv(kRank) != nullptr) {
    be_a_rank();
  }
  const int file = memfd_create("board", 0);
  EXPECT_EQ(ftruncate(file, sizeof(SharedBoard)), 0);
  SharedBoard& board = mapped(file);
  board.argument = argument;
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    children.push_back(fork());
    if (children.back() == 0) {
      become_a_rank(places, rank, body, file);
    }
  }
  for (std::size_t rank = 0; rank < children.size(); ++rank) {
    int status = -1;
    EXPECT_EQ(waitpid(children[rank], &status, 0), children[rank]);
    EXPECT_EQ(status, 0) << "of rank " << rank;
  }
  close(file);
  return {board.values.begin(), board.values.begin() + static_cast<long>(places.size())};
}

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
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
