// Brings together what the ranks of a communicator launch: whose calls belong to each other, what
// each gets, and when in modelled time that ends.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "tests/gpu_sim/nccl/fabric.hpp"

namespace gpu_sim::nccl {

// The calls of one rank that go together: one call, or those of a group.
struct Arrival {
  int rank = 0;
  std::uint64_t launch = 0;  // the rank's own number of it
  double enter_ns = 0;
  std::vector<Call> calls;
  std::vector<SharedBytes> inputs;  // of each call
};

struct Departure {
  int rank = 0;
  std::uint64_t launch = 0;
  double end_ns = 0;
  std::vector<SharedBytes> outputs;  // of each call; an empty one for none
};

class Switchboard {
 public:
  explicit Switchboard(Fabric fabric) : fabric_(std::move(fabric)) {}

  // Takes what a rank launches and returns the launches that are complete with it. Throws NcclError
  // of ncclInvalidUsage where calls meet that do not fit: NCCL leaves open what happens then.
  std::vector<Departure> arrive(Arrival arrival);

 private:
  // Nanoseconds that a launch keeps each way busy, out and in, by Medium.
  struct Load {
    std::array<double, 3> out{};
    std::array<double, 3> in{};
  };
  struct Launch {
    Arrival arrival;
    Load load;
    Departure departure;
    std::size_t open = 0;  // calls that wait for others
  };
  using LaunchPtr = std::shared_ptr<Launch>;
  struct Part {
    LaunchPtr launch;
    std::size_t call;  // of the launch
    const Call& what() const { return launch->arrival.calls[call]; }
    const SharedBytes& input() const { return launch->arrival.inputs[call]; }
  };
  struct Pair {
    std::deque<Part> sends;
    std::deque<Part> receives;
    std::uint64_t number = 0;
  };
  using Meeting = std::map<int, Part>;  // by rank

  Load load_of(const Arrival& arrival) const;
  void join_collective(const Part& part);
  void finish_collective(const Meeting& meeting, std::uint64_t number);
  // What each rank gets, in the order of ranks.
  std::vector<SharedBytes> outputs_of(const Meeting& meeting) const;
  void join_transfer(const Part& part);
  void finish_transfer(const Part& send, const Part& receive, std::uint64_t number);
  void settle(const Part& part, double end_ns, SharedBytes output);

  Fabric fabric_;
  std::map<int, std::uint64_t> collectives_;  // that each rank has begun
  std::map<std::uint64_t, Meeting> meetings_;
  std::map<std::pair<int, int>, Pair> pairs_;  // from, to
  std::vector<Departure> complete_;
};

}  // namespace gpu_sim::nccl
