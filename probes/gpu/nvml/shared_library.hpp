// The one session with NVML of a process: it takes NVML some tenths of a second to open one.
#pragma once

#include <memory>
#include <string>

#include "probes/gpu/nvml/nvml_library.hpp"

namespace fleetbench::gpu::nvml {

class SharedLibrary {
 public:
  // Null where there is none; why() then says why.
  const Library* get();
  const std::string& why() const { return why_; }

 private:
  std::unique_ptr<Library> library_;
  std::string why_;
};

SharedLibrary& shared_library();

}  // namespace fleetbench::gpu::nvml
