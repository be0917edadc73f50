// mpirun -np N pairs_plain MIB PASSES: every rank with every other one, in rounds of disjoint
// pairs, in plain loops. N is even. Rank 0 prints how many seconds that took, for
// tests/bench/pairs_bench.py.
#include <cstdio>
#include <cstdlib>

#include "tests/bench/mpi_plain.hpp"

namespace {

// By the circle method: the last rank stays where it is, the others move round it.
int partner_of(int rank, int ranks, int round) {
  const int moving = ranks - 1;
  if (rank == moving) {
    return round;
  }
  const int partner = ((2 * round - rank) % moving + moving) % moving;
  return partner == rank ? moving : partner;
}

void run_rounds(int rank, int ranks, const plain::PairSizes& sizes) {
  for (int round = 0; round < ranks - 1; ++round) {
    const int partner = partner_of(rank, ranks, round);
    MPI_Comm pair = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < partner ? rank : partner, rank, &pair);
    plain::PairProgram(pair, sizes).measure();
    MPI_Comm_free(&pair);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3 || ranks % 2 != 0) {
    std::fprintf(stderr, "usage: mpirun -np EVEN pairs_plain MIB PASSES\n");
    MPI_Abort(MPI_COMM_WORLD, 64);
  }
  // As the probe: windows of 8 messages of 1 MiB; one that it looks at and one more go before.
  const plain::PairSizes sizes{.message_bytes = 1 << 20,
                               .window = 8,
                               .windows = std::atoi(argv[1]) / 8,
                               .latency_bytes = 8,
                               .batches = 10,
                               .round_trips = 20,
                               .warmup_windows = 2};
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int pass = 0; pass < std::atoi(argv[2]); ++pass) {
    run_rounds(rank, ranks, sizes);
  }
  if (rank == 0) {
    std::printf("%.6f\n", MPI_Wtime() - start);
  }
  MPI_Finalize();
  return 0;
}
