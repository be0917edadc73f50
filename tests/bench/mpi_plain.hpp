// What a person would write to measure MPI: plain loops, no code of the project. Both ranks of a
// job of two call each function.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace plain {

struct PairSizes {
  std::size_t message_bytes;
  int window;
  int windows;
  std::size_t latency_bytes;
  int batches;
  int round_trips;
  int warmup_windows = 3;
};

struct Pair {
  double bytes_per_s;  // from the caller to the other rank
  double latency_s;    // on rank 0
};

class PairProgram {
 public:
  PairProgram(MPI_Comm comm, const PairSizes& sizes);  // allocates and warms up
  ~PairProgram();
  PairProgram(const PairProgram&) = delete;
  PairProgram& operator=(const PairProgram&) = delete;
  Pair measure();

 private:
  MPI_Comm comm_;
  PairSizes sizes_;
  int rank_ = 0;
  char* out_;
  char* in_;
};

class AllReduceProgram {
 public:
  AllReduceProgram(MPI_Comm comm, const std::vector<std::size_t>& sizes_bytes, int warmup,
                   int iterations);
  ~AllReduceProgram();
  AllReduceProgram(const AllReduceProgram&) = delete;
  AllReduceProgram& operator=(const AllReduceProgram&) = delete;
  // Bus bandwidth of MPI_Allreduce of each size, on the caller's clock. Of two ranks, so the factor
  // 2(n-1)/n is 1.
  std::vector<double> measure();

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;  // a fresh one, as the probe has
  std::vector<std::size_t> sizes_bytes_;
  int warmup_;
  int iterations_;
  char* send_;
  char* receive_;
};

}  // namespace plain
