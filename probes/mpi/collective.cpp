#include "probes/mpi/collective.hpp"

#include <algorithm>
#include <stdexcept>

namespace fleetbench {
namespace {

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
    return std::vector<Collective>{
        {collective_shape("all_reduce"), "MPI_Allreduce", all_reduce},
        {collective_shape("all_gather"), "MPI_Allgather", all_gather},
        {collective_shape("reduce_scatter"), "MPI_Reduce_scatter_block", reduce_scatter},
        {collective_shape("all_to_all"), "MPI_Alltoall", all_to_all},
        {collective_shape("broadcast"), "MPI_Bcast", broadcast}};
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

}  // namespace fleetbench
