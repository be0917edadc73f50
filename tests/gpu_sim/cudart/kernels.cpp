#include "tests/gpu_sim/cudart/kernels.hpp"

#include <map>
#include <mutex>

namespace gpu_sim {

namespace {

struct Kernels {
  std::mutex mutex;
  std::map<const void*, std::string> names;
};

// Programs register before any static object of this library need be there.
Kernels& kernels() {
  static Kernels* all = new Kernels;
  return *all;
}

}  // namespace

void register_kernel(const void* stub, const char* name) {
  const std::lock_guard lock(kernels().mutex);
  kernels().names[stub] = name;
}

std::string kernel_name(const void* stub) {
  const std::lock_guard lock(kernels().mutex);
  const auto name = kernels().names.find(stub);
  return name == kernels().names.end() ? std::string() : name->second;
}

}  // namespace gpu_sim
