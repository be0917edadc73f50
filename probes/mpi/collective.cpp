#include "probes/mpi/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace fleetbench {
namespace {

using Arrives = Collective::Arrives;

int all_reduce(float* send, float* receive, int count, int /*me*/, MPI_Comm comm) {
  return MPI_Allreduce(send, receive, count, MPI_FLOAT, MPI_SUM, comm);
}

int all_gather(float* send, float* receive, int count, int /*me*/, MPI_Comm comm) {
  return MPI_Allgather(send, count, MPI_FLOAT, receive, count, MPI_FLOAT, comm);
}

int reduce_scatter(float* send, float* receive, int count, int /*me*/, MPI_Comm comm) {
  return MPI_Reduce_scatter_block(send, receive, count, MPI_FLOAT, MPI_SUM, comm);
}

int all_to_all(float* send, float* receive, int count, int /*me*/, MPI_Comm comm) {
  return MPI_Alltoall(send, count, MPI_FLOAT, receive, count, MPI_FLOAT, comm);
}

int broadcast(float* send, float* receive, int count, int me, MPI_Comm comm) {
  return MPI_Bcast(me == 0 ? send : receive, count, MPI_FLOAT, 0, comm);
}

}  // namespace

const std::vector<Collective>& collectives() {
  static const std::vector<Collective> list = [] {
    const auto rule = [](const char* name) { return find_collective_rule(name); };
    return std::vector<Collective>{
        {rule("all_reduce"), "MPI_Allreduce", all_reduce, Arrives::summed, false},
        {rule("all_gather"), "MPI_Allgather", all_gather, Arrives::from_each, false},
        {rule("reduce_scatter"), "MPI_Reduce_scatter_block", reduce_scatter, Arrives::summed, true},
        {rule("all_to_all"), "MPI_Alltoall", all_to_all, Arrives::from_each, true},
        {rule("broadcast"), "MPI_Bcast", broadcast, Arrives::from_root, false}};
  }();
  return list;
}

const Collective& collective_named(const std::string& name) {
  const auto found = std::ranges::find(collectives(), name,
                                       [](const Collective& entry) { return entry.rule->name; });
  if (found == collectives().end()) {
    throw std::invalid_argument("\"" + name + "\" is no collective");
  }
  return *found;
}

std::vector<std::size_t> size_sweep(std::size_t begin, std::size_t end, std::size_t factor) {
  std::vector<std::size_t> sizes{begin};
  while (factor > 1 && sizes.back() <= end / factor) {
    sizes.push_back(sizes.back() * factor);
  }
  return sizes;
}

std::string size_name(std::size_t bytes) {
  for (const auto& [unit, letter] :
       {std::pair{std::size_t{1} << 30, 'G'}, std::pair{std::size_t{1} << 20, 'M'},
        std::pair{std::size_t{1} << 10, 'K'}}) {
    if (bytes >= unit && bytes % unit == 0) {
      return fmt::format("{}{}", bytes / unit, letter);
    }
  }
  return fmt::format("{}", bytes);
}

int iterations_that_fit(double warmup_s, int warmup, double max_s, int wanted) {
  const double iteration_s = warmup_s / std::max(1, warmup);
  if (iteration_s * wanted <= max_s) {
    return wanted;
  }
  return std::max(1, static_cast<int>(max_s / iteration_s));
}

}  // namespace fleetbench
