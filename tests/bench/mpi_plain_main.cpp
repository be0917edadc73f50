// mpirun -np 2 mpi_plain single|multiple: the plain loops under that level of thread support. One
// line of rank 0's figures, for tests/bench/mpi_bench.py to compare: "name value", rates in B/s.
#include <cstdio>
#include <cstring>

#include "tests/bench/mpi_bench_sizes.hpp"
#include "tests/bench/mpi_plain.hpp"

int main(int argc, char** argv) {
  const bool multiple = argc > 1 && std::strcmp(argv[1], "multiple") == 0;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int repeat = 0; repeat < 10; ++repeat) {
    const plain::Pair pair = plain::PairProgram(comm, bench::kPairSizes).measure();
    const auto rates = plain::AllReduceProgram(comm, bench::sweep_sizes(), bench::kSweepWarmup,
                                               bench::kSweepIterations)
                           .measure();
    if (rank != 0) {
      continue;
    }
    std::printf("bandwidth %.6g\nlatency %.6g\n", pair.bytes_per_s, pair.latency_s);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      std::printf("all_reduce.busbw.%zu %.6g\n", bench::sweep_sizes()[i], rates[i]);
    }
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
