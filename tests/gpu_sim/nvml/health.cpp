// Errors of memory.
#include <algorithm>

#include "tests/gpu_sim/nvml/call.hpp"

using namespace gpu_sim;
using namespace gpu_sim::nvml;

extern "C" {

NVML_EXPORT nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t handle, int* current, int* pending) {
  return on_device(handle, [&](Device&) {
    require_nvml(current != nullptr && pending != nullptr);
    *current = *pending = 1;
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t handle, int kind, int since,
                                                     unsigned long long* count) {
  return value_of(handle, count, [&](Device& device) {
    require_nvml((kind == kCorrected || kind == kUncorrected) &&
                 (since == kVolatile || since == kAggregate));
    return kind == kUncorrected ? device.faults().uncorrected_errors : 0;
  });
}

// A row for each error, as many as there are to spare.
NVML_EXPORT nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t handle, unsigned* corrected,
                                                   unsigned* uncorrected, unsigned* pending,
                                                   unsigned* failed) {
  return on_device(handle, [&](Device& device) {
    constexpr std::uint64_t kSpareRows = 512;
    require_nvml(corrected != nullptr && uncorrected != nullptr && pending != nullptr &&
                 failed != nullptr);
    const std::uint64_t errors = device.faults().uncorrected_errors;
    *corrected = 0;
    *uncorrected = static_cast<unsigned>(std::min(errors, kSpareRows));
    *pending = errors > 0 ? 1 : 0;
    *failed = errors > kSpareRows ? 1 : 0;
  });
}

}  // extern "C"
