#include "probes/support/blas_kernel.hpp"

#include <cblas.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

namespace fleetbench {
namespace {

constexpr const char* kVariable = "OPENBLAS_CORETYPE";

// The kernels for x86 without AVX, by OpenBLAS's names.
bool is_before_avx(std::string_view kernel) {
  constexpr std::string_view kOld[] = {"Katmai", "Coppermine", "Northwood",  "Prescott", "Banias",
                                       "Core2",  "Penryn",     "Dunnington", "Nehalem",  "Atom"};
  return std::find(std::begin(kOld), std::end(kOld), kernel) != std::end(kOld);
}

#if defined(__x86_64__)
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#else
bool has_avx2() { return false; }
#endif

}  // namespace

void use_vector_kernels(char** argv) {
  if (std::getenv(kVariable) == nullptr && has_avx2() && is_before_avx(openblas_get_corename())) {
    setenv(kVariable, "Haswell", 1);
    // By its own name, by which a person looks for it among the processes.
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    execv(path.c_str(), argv);
    // Could not: then the old kernel has to do.
  }
}

}  // namespace fleetbench
