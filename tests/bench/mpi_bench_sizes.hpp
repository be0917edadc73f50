// What both sides of the MPI bench measure.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/bench/mpi_plain.hpp"

namespace bench {

constexpr plain::PairSizes kPairSizes{.message_bytes = 1 << 20,
                                      .window = 8,
                                      .windows = 8,
                                      .latency_bytes = 8,
                                      .batches = 100,
                                      .round_trips = 20};
constexpr std::size_t kSweepBegin = 8;
constexpr std::size_t kSweepEnd = 4 << 20;
constexpr std::size_t kSweepFactor = 8;
constexpr int kSweepWarmup = 3;
constexpr int kSweepIterations = 40;

inline std::vector<std::size_t> sweep_sizes() {
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = kSweepBegin; bytes <= kSweepEnd; bytes *= kSweepFactor) {
    sizes.push_back(bytes);
  }
  return sizes;
}

}  // namespace bench
