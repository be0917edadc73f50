#include "tests/gpu_sim/nccl/call.hpp"

namespace gpu_sim::nccl {

std::size_t Call::input_bytes(int rank, int ranks) const {
  switch (function) {
    case Function::reduce_scatter:
      return bytes() * static_cast<std::size_t>(ranks);
    case Function::broadcast:
      return rank == peer ? bytes() : 0;
    case Function::receive:
      return 0;
    default:
      return bytes();
  }
}

std::size_t Call::output_bytes(int rank, int ranks) const {
  switch (function) {
    case Function::all_gather:
      return bytes() * static_cast<std::size_t>(ranks);
    case Function::reduce:
      return rank == peer ? bytes() : 0;
    case Function::send:
      return 0;
    default:
      return bytes();
  }
}

std::string Call::text() const {
  std::string words = std::string(names_of(function).fault) + " of " + std::to_string(count) + " " +
                      type_name(type);
  switch (function) {
    case Function::all_reduce:
    case Function::reduce_scatter:
      return words + ", op " + std::to_string(op);
    case Function::reduce:
      return words + ", op " + std::to_string(op) + ", root " + std::to_string(peer);
    case Function::broadcast:
      return words + ", root " + std::to_string(peer);
    case Function::send:
      return words + " to " + std::to_string(peer);
    case Function::receive:
      return words + " from " + std::to_string(peer);
    default:
      return words;
  }
}

}  // namespace gpu_sim::nccl
