// The kernels that the program's GPU code registered as it was loaded.
#pragma once

#include <string>

namespace gpu_sim {

// `stub`: the function of the program that stands for the kernel.
void register_kernel(const void* stub, const char* name);

// Empty where none was registered for `stub`.
std::string kernel_name(const void* stub);

}  // namespace gpu_sim
