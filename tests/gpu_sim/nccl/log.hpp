// What NCCL says when NCCL_DEBUG is set, to the file of NCCL_DEBUG_FILE or to stdout.
#pragma once

#include <string>

namespace gpu_sim::nccl {

enum class Subsystem : unsigned {
  init = 1,
  coll = 2,
  p2p = 4,
  net = 16,
  graph = 32,
  tuning = 64,
  env = 128,
  bootstrap = 4096
};

// A line "HOST:PID:TID [CUDA] NCCL INFO text", where NCCL_DEBUG and NCCL_DEBUG_SUBSYS ask for it.
void inform(Subsystem subsystem, int cuda, const std::string& text);
// Whether such a line would be written.
bool informs(Subsystem subsystem);

// Keeps `text` as the last error, and writes it where NCCL_DEBUG asks for warnings.
void warn(const std::string& text);
std::string last_error();

}  // namespace gpu_sim::nccl
