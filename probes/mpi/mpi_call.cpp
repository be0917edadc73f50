#include "probes/mpi/mpi_call.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>

namespace fleetbench {

void throw_mpi_error(int rc, const char* call, int rank) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(rc, text.data(), &length) != MPI_SUCCESS) {
    length = 0;
  }
  const std::string reason = length > 0 ? std::string(text.data(), static_cast<std::size_t>(length))
                                        : fmt::format("MPI error {}", rc);
  throw std::runtime_error(rank < 0 ? fmt::format("{}: {}", call, reason)
                                    : fmt::format("{} {}: {}", call, rank, reason));
}

}  // namespace fleetbench
