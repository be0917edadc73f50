#include "tests/bench/mpi_plain.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace plain {
namespace {

char* allocate(std::size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 4096, bytes) != 0) {
    std::abort();
  }
  std::memset(memory, 0x3f, bytes);  // 0.75 as a float: no denormals
  return static_cast<char*>(memory);
}

double send_windows(MPI_Comm comm, int peer, char* buffer, const PairSizes& sizes, int windows) {
  std::vector<MPI_Request> requests(static_cast<std::size_t>(sizes.window));
  char ack = 0;
  const double start = MPI_Wtime();
  for (int w = 0; w < windows; ++w) {
    for (int i = 0; i < sizes.window; ++i) {
      MPI_Isend(buffer + static_cast<std::size_t>(i) * sizes.message_bytes,
                static_cast<int>(sizes.message_bytes), MPI_BYTE, peer, 1, comm,
                &requests[static_cast<std::size_t>(i)]);
    }
    MPI_Waitall(sizes.window, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Recv(&ack, 1, MPI_CHAR, peer, 2, comm, MPI_STATUS_IGNORE);
  }
  return MPI_Wtime() - start;
}

void receive_windows(MPI_Comm comm, int peer, char* buffer, const PairSizes& sizes, int windows) {
  std::vector<MPI_Request> requests(static_cast<std::size_t>(sizes.window));
  char ack = 0;
  for (int w = 0; w < windows; ++w) {
    for (int i = 0; i < sizes.window; ++i) {
      MPI_Irecv(buffer + static_cast<std::size_t>(i) * sizes.message_bytes,
                static_cast<int>(sizes.message_bytes), MPI_BYTE, peer, 1, comm,
                &requests[static_cast<std::size_t>(i)]);
    }
    MPI_Waitall(sizes.window, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Send(&ack, 1, MPI_CHAR, peer, 2, comm);
  }
}

double ping_pong(MPI_Comm comm, int rank, char* out, char* in, const PairSizes& sizes) {
  const int bytes = static_cast<int>(sizes.latency_bytes);
  const int peer = 1 - rank;
  std::vector<double> means;
  for (int batch = 0; batch < sizes.batches; ++batch) {
    const double start = MPI_Wtime();
    for (int i = 0; i < sizes.round_trips; ++i) {
      if (rank == 0) {
        MPI_Send(out, bytes, MPI_BYTE, peer, 3, comm);
        MPI_Recv(in, bytes, MPI_BYTE, peer, 3, comm, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(in, bytes, MPI_BYTE, peer, 3, comm, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_BYTE, peer, 3, comm);
      }
    }
    means.push_back((MPI_Wtime() - start) / (2.0 * sizes.round_trips));
  }
  std::sort(means.begin(), means.end());
  return (means[(means.size() - 1) / 2] + means[means.size() / 2]) / 2;
}

double run_direction(MPI_Comm comm, int rank, int sender, char* out, char* in,
                     const PairSizes& sizes, int windows) {
  MPI_Barrier(comm);
  if (rank == sender) {
    return send_windows(comm, 1 - rank, out, sizes, windows);
  }
  receive_windows(comm, 1 - rank, in, sizes, windows);
  return 0;
}

}  // namespace

PairProgram::PairProgram(MPI_Comm comm, const PairSizes& sizes)
    : comm_(comm),
      sizes_(sizes),
      out_(allocate(sizes.message_bytes * static_cast<std::size_t>(sizes.window))),
      in_(allocate(sizes.message_bytes * static_cast<std::size_t>(sizes.window))) {
  MPI_Comm_rank(comm, &rank_);
  for (int sender = 0; sender < 2; ++sender) {
    run_direction(comm, rank_, sender, out_, in_, sizes, sizes.warmup_windows);
  }
}

PairProgram::~PairProgram() {
  std::free(out_);
  std::free(in_);
}

Pair PairProgram::measure() {
  double seconds = 0;
  for (int sender = 0; sender < 2; ++sender) {
    seconds += run_direction(comm_, rank_, sender, out_, in_, sizes_, sizes_.windows);
  }
  MPI_Barrier(comm_);
  const double latency_s = ping_pong(comm_, rank_, out_, in_, sizes_);
  const double bytes = static_cast<double>(sizes_.message_bytes) * sizes_.window * sizes_.windows;
  return {bytes / seconds, latency_s};
}

AllReduceProgram::AllReduceProgram(MPI_Comm comm, const std::vector<std::size_t>& sizes_bytes,
                                   int warmup, int iterations)
    : sizes_bytes_(sizes_bytes),
      warmup_(warmup),
      iterations_(iterations),
      send_(allocate(sizes_bytes.back())),
      receive_(allocate(sizes_bytes.back())) {
  MPI_Comm_dup(comm, &comm_);
}

AllReduceProgram::~AllReduceProgram() {
  MPI_Comm_free(&comm_);
  std::free(send_);
  std::free(receive_);
}

std::vector<double> AllReduceProgram::measure() {
  std::vector<double> bytes_per_s;
  for (const std::size_t bytes : sizes_bytes_) {
    const int count = static_cast<int>(bytes / sizeof(float));
    MPI_Barrier(comm_);
    for (int i = 0; i < warmup_; ++i) {
      MPI_Allreduce(send_, receive_, count, MPI_FLOAT, MPI_SUM, comm_);
    }
    MPI_Barrier(comm_);
    const double start = MPI_Wtime();
    for (int i = 0; i < iterations_; ++i) {
      MPI_Allreduce(send_, receive_, count, MPI_FLOAT, MPI_SUM, comm_);
    }
    bytes_per_s.push_back(static_cast<double>(bytes) * iterations_ / (MPI_Wtime() - start));
  }
  return bytes_per_s;
}

}  // namespace plain
