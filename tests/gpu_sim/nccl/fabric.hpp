// What joins the ranks of a communicator, and how long it takes to carry what. Figures are those of
// eight H100 with a NIC of 400 Gb/s each, in round numbers.
#pragma once

#include <vector>

#include "tests/gpu_sim/nccl/call.hpp"
#include "tests/gpu_sim/nccl/member.hpp"

namespace gpu_sim::nccl {

// What a transfer occupies: the ways out of and into a GPU are different for each.
enum class Medium { self, nvlink, network };

class Fabric {
 public:
  // `serial` tells communicators of the same members apart: their noise differs.
  Fabric(std::vector<Member> members, std::uint64_t serial);

  const std::vector<Member>& members() const { return members_; }
  int ranks() const { return static_cast<int>(members_.size()); }

  // From the moment that the last rank has come to the end, of the communicator's `number`-th.
  double collective_ns(const Call& call, std::uint64_t number) const;

  Medium medium(int from, int to) const;
  double path_bytes_per_s(int from, int to) const;
  // The fixed part of a transfer.
  double transfer_latency_ns(int from, int to) const;
  // `ns` of the `number`-th transfer from one to the other, with the noise of repetitions.
  double varied_transfer(int from, int to, std::uint64_t number, double ns) const;

  // What nccl-tests calls the bus bandwidth: of a ring over all ranks, whose channels go from node
  // to node through the NICs of GPUs of the same place in their nodes.
  double bus_bytes_per_s() const { return bus_bytes_per_s_; }

 private:
  const Member& at(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  // The ranks of each node, nodes in the order of their first ranks.
  std::vector<std::vector<int>> nodes() const;
  double slowest_of_ring() const;
  double collective_latency_ns(Function function) const;
  double varied(const std::string& what, std::uint64_t number, double ns) const;

  std::vector<Member> members_;
  std::uint64_t serial_;
  double bus_bytes_per_s_ = 0;
};

}  // namespace gpu_sim::nccl
