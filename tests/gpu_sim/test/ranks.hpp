// Ranks of NCCL for tests: each is a process of its own, on a node and GPU of its own.
#pragma once

#include <nccl.h>

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "tests/gpu_sim/test/owners.hpp"

namespace gpu_sim_test {

using RankSettings = std::map<std::string, std::string>;  // of the environment
struct RankPlace {
  std::string node;
  int gpu;
  RankSettings settings = {};
};
using RankPlaces = std::vector<RankPlace>;

// GPUs 0, 1 … of one node; GPU 0 of nodes node0, node1 …
RankPlaces on_one_node(int ranks);
RankPlaces on_nodes(int ranks);
// The same with `settings` for all of them, and with faults.
RankPlaces with(RankPlaces places, const RankSettings& settings);
RankPlaces with_faults(RankPlaces places, const std::string& faults);

// Memory that the processes of a test share.
struct SharedBoard {
  static constexpr int kRanks = 16;
  std::atomic<int> made;  // of the unique ids
  std::array<ncclUniqueId, 8> ids;
  std::atomic<int> arrived;  // at Rank::meet()
  double argument;
  std::array<std::array<double, 32>, kRanks> values;
};

// A process's view of the test that it is a rank of.
class Rank {
 public:
  Rank(int rank, int ranks, SharedBoard& board) : rank_(rank), ranks_(ranks), board_(board) {}
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  // A unique id, which rank 0 makes: for the n-th communicator of each.
  const ncclUniqueId& id() const;
  double argument() const { return board_.argument; }
  // Waits, in real time, until as many ranks have called it.
  void meet() const;
  // Of this rank, for the process of the test to look at.
  void say(std::size_t index, double value) const;

 private:
  int rank_;
  int ranks_;
  SharedBoard& board_;
  mutable int asked_ = 0;
};

// What each rank said.
using Outcome = std::vector<std::array<double, 32>>;

// Calls `body` in a process for each place, and waits for them. The processes are this program once
// more, with the same test; so a body knows nothing of the test but the argument.
using RankBody = void (*)(const Rank&);
Outcome on_ranks(const RankPlaces& places, RankBody body, double argument = 0);

// All of a file; empty where there is none.
std::string content(const std::string& path);

#define EXPECT_NCCL(call) EXPECT_EQ(call, ncclSuccess) << ncclGetLastError(nullptr)

// A blocking communicator of this rank.
class Comm {
 public:
  explicit Comm(const Rank& rank) {
    EXPECT_NCCL(ncclCommInitRank(&comm_, rank.ranks(), rank.id(), rank.rank()));
  }
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  ~Comm() { EXPECT_NCCL(ncclCommDestroy(comm_)); }
  ncclComm_t get() const { return comm_; }

 private:
  ncclComm_t comm_ = nullptr;
};

// Asks until it is no longer ncclInProgress, for some seconds.
ncclResult_t settled(ncclComm_t comm);
// A communicator that does not block, as it is after the call.
ncclComm_t begun(const Rank& rank);

}  // namespace gpu_sim_test
