// What NCCL says of itself when it is asked to (NCCL_DEBUG=INFO), kept in memory.
#pragma once

#include <optional>
#include <string>

#include "probes/support/file_descriptor.hpp"

namespace fleetbench::gpu::nccl {

class DebugLog {
 public:
  // Sets NCCL_DEBUG, NCCL_DEBUG_FILE and NCCL_DEBUG_SUBSYS of this process, which NCCL reads once;
  // before its first call and before the process has threads. Where the user set one of the first
  // two, nothing is set and nothing is kept.
  DebugLog();

  // Why nothing is kept; nothing where it is.
  const std::optional<std::string>& why_not() const { return why_not_; }
  // What was said since the last time, of which it is forgotten. At most the first 4 MiB.
  std::string take();

 private:
  FileDescriptor file_;
  std::optional<std::string> why_not_;
  long taken_ = 0;
};

}  // namespace fleetbench::gpu::nccl
