// The collectives that mpi_collectives can measure, one entry each.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "probes/support/collective_shape.hpp"

namespace fleetbench {

struct Collective : CollectiveShape {
  std::string mpi_call;  // "MPI_Allreduce"
  // The blocking call, float and sum, for the `count` of the rule; returns MPI's code. `me` is the
  // caller's position in `comm`. The root of a broadcast sends `send` and receives nothing.
  int (*call)(float* send, float* receive, int count, int me, MPI_Comm comm) = nullptr;
};

// all_reduce, all_gather, reduce_scatter, all_to_all, broadcast.
const std::vector<Collective>& collectives();
// Precondition: it is one of them.
const Collective& collective_named(const std::string& name);

}  // namespace fleetbench
