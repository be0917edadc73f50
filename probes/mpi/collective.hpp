// The collectives that mpi_collectives can measure, one entry each. PURE but for the call itself.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fleetbench {

// A size as nccl-tests counts it: of all_reduce, the bytes of one member's buffer.
struct Collective {
  std::string name;      // "all_reduce", stands before ".busbw.SIZE"
  std::string mpi_call;  // "MPI_Allreduce"
  // What to multiply bytes / time with, so that the figure can be held against what the hardware
  // of one member can do whatever the number of members (nccl-tests, doc/PERFORMANCE.md).
  double (*busbw_factor)(std::size_t members);
  // How many floats a member sends and receives for a size of `count` floats.
  std::size_t (*send_count)(std::size_t count, std::size_t members);
  std::size_t (*receive_count)(std::size_t count, std::size_t members);
  // The blocking call, float and sum, for a size of `count` floats; returns MPI's code.
  int (*call)(const float* send, float* receive, std::size_t count, MPI_Comm comm);
  // For the check: what a member sends, and what it must then have received. All are integers
  // whose partial sums a float holds exactly, so any order of adding gives the same bits.
  void (*fill)(std::span<float> send, std::size_t member);
  std::vector<float> (*expect)(std::size_t count, std::size_t members, std::size_t member);
};

// all_reduce; all_gather, reduce_scatter, all_to_all and broadcast are one more entry each.
const std::vector<Collective>& collectives();

// `begin`, `begin` × `factor`, … as long as it is at most `end`; at least `begin`.
std::vector<std::size_t> size_sweep(std::size_t begin, std::size_t end, std::size_t factor);

// 8 is "8", 4096 "4K", 1048576 "1M", 1536 "1536": powers of two as in nccl-tests, and exact.
std::string size_name(std::size_t bytes);

// How many iterations of the length seen in the warm-up fit into `max_s`: 1 to `wanted`.
int iterations_that_fit(double warmup_s, int warmup, double max_s, int wanted);

struct ElementMismatch {
  std::size_t element = 0;
  float expected = 0;
  float got = 0;
};

std::optional<ElementMismatch> first_mismatch(std::span<const float> got,
                                              std::span<const float> expected);

}  // namespace fleetbench
