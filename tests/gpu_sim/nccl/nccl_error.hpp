// How the library refuses: with NCCL's code and a sentence for ncclGetLastError.
#pragma once

#include <nccl.h>

#include <stdexcept>
#include <string>

namespace gpu_sim::nccl {

struct NcclError : std::runtime_error {
  NcclError(ncclResult_t why, const std::string& text) : std::runtime_error(text), code(why) {}
  ncclResult_t code;
};

inline void require(bool fine, ncclResult_t otherwise, const std::string& text) {
  if (!fine) {
    throw NcclError(otherwise, text);
  }
}

}  // namespace gpu_sim::nccl
