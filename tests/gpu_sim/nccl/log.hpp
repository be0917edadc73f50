// What NCCL says when NCCL_DEBUG is set, to the file of NCCL_DEBUG_FILE or to stdout.
#pragma once

#include <string>

namespace gpu_sim::nccl {

// Bits, as NCCL_DEBUG_SUBSYS names them.
enum class Subsystem : unsigned {
  init = 1,
  coll = 2,
  p2p = 4,
  shm = 8,
  net = 16,
  graph = 32,
  tuning = 64,
  env = 128,
  bootstrap = 4096
};
constexpr Subsystem operator|(Subsystem a, Subsystem b) {
  return static_cast<Subsystem>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

// A line "HOST:PID:TID [CUDA] NCCL INFO text", where NCCL_DEBUG and NCCL_DEBUG_SUBSYS ask
// for one of `subsystems`.
void inform(Subsystem subsystems, int cuda, const std::string& text);
// Whether such a line would be written.
bool informs(Subsystem subsystems);

// Keeps `text` as the last error, and writes it where NCCL_DEBUG asks for warnings.
void warn(const std::string& text);
std::string last_error();

}  // namespace gpu_sim::nccl
