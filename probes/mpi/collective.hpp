// The collectives that mpi_collectives can measure, one entry each. PURE but for the call itself.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "results-schema/collective_rule.hpp"

namespace fleetbench {

struct Collective {
  // What a member has received afterwards: parts of all members one after the other, the sum of
  // all, or what the root sent.
  enum class Arrives { from_each, summed, from_root };

  const CollectiveRule* rule = nullptr;
  std::string mpi_call;  // "MPI_Allreduce"
  // The blocking call, float and sum, for the `count` of the rule; returns MPI's code. `me` is the
  // caller's position in `comm`. The root of a broadcast sends `send` and receives nothing.
  int (*call)(float* send, float* receive, int count, int me, MPI_Comm comm) = nullptr;
  Arrives arrives = Arrives::from_each;
  // True: members send one part to each, and a member gets the part at its own position. False:
  // they send one part to all.
  bool own_part = false;

  // The floats of a member's buffers.
  std::size_t send_count(std::size_t count, std::size_t members) const {
    return own_part ? count * members : count;
  }
  std::size_t receive_count(std::size_t count, std::size_t members) const {
    return arrives == Arrives::from_each ? count * members : count;
  }
};

// all_reduce, all_gather, reduce_scatter, all_to_all, broadcast.
const std::vector<Collective>& collectives();
// Precondition: it is one of them.
const Collective& collective_named(const std::string& name);

// `begin`, `begin` × `factor`, … as long as it is at most `end`; at least `begin`.
std::vector<std::size_t> size_sweep(std::size_t begin, std::size_t end, std::size_t factor);

// 8 is "8", 4096 "4K", 1048576 "1M", 1536 "1536": powers of two as in nccl-tests, and exact.
std::string size_name(std::size_t bytes);

// How many iterations of the length seen in the warm-up fit into `max_s`: 1 to `wanted`.
int iterations_that_fit(double warmup_s, int warmup, double max_s, int wanted);

}  // namespace fleetbench
