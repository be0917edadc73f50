// Preloaded into fleetbench: on rank 1 every all_reduce of floats gives one false element.
#include <mpi.h>

#include <cstdlib>
#include <cstring>

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const int rc = PMPI_Allreduce(send, receive, count, type, op, comm);
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (type == MPI_FLOAT && rank != nullptr && std::strcmp(rank, "1") == 0) {
    static_cast<float*>(receive)[0] += 1.0F;
  }
  return rc;
}
