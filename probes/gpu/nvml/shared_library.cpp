#include "probes/gpu/nvml/shared_library.hpp"

#include <stdexcept>

namespace fleetbench::gpu::nvml {

const Library* SharedLibrary::get() {
  if (!library_ && why_.empty()) {
    try {
      library_ = std::make_unique<Library>();
    } catch (const std::runtime_error& error) {
      why_ = error.what();
    }
  }
  return library_.get();
}

SharedLibrary& shared_library() {
  static SharedLibrary library;
  return library;
}

}  // namespace fleetbench::gpu::nvml
