// One call of a communication function, as far as other ranks must know it.
#pragma once

#include <nccl.h>

#include <array>
#include <string>

#include "tests/gpu_sim/nccl/element.hpp"

namespace gpu_sim::nccl {

enum class Function : std::uint32_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  send,
  receive
};

struct FunctionNames {
  const char* fault;  // all_reduce, as in settings
  const char* nccl;   // AllReduce, as in messages
};

inline const FunctionNames& names_of(Function function) {
  static constexpr std::array<FunctionNames, 7> kNames{{{"all_reduce", "AllReduce"},
                                                        {"all_gather", "AllGather"},
                                                        {"reduce_scatter", "ReduceScatter"},
                                                        {"broadcast", "Broadcast"},
                                                        {"reduce", "Reduce"},
                                                        {"send", "Send"},
                                                        {"recv", "Recv"}}};
  return kNames[static_cast<std::size_t>(function)];
}

struct Call {
  Function function;
  ncclDataType_t type;
  ncclRedOp_t op;     // of those that reduce
  int peer;           // the root, or the other one of send and receive
  std::size_t count;  // as the function has it

  bool is_collective() const { return function < Function::send; }
  // What `count` stands for.
  std::size_t bytes() const { return count * element_bytes(type); }
  // How long are the buffers that `rank` of `ranks` gives and gets.
  std::size_t input_bytes(int rank, int ranks) const;
  std::size_t output_bytes(int rank, int ranks) const;

  // "all_reduce of 8 float32, op 0"
  std::string text() const;
};

}  // namespace gpu_sim::nccl
