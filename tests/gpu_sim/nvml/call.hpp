// What every call of NVML does beside its work.
#pragma once

#include <string_view>

#include "tests/gpu_sim/model/model.hpp"
#include "tests/gpu_sim/nvml/nvml_api.hpp"

#define NVML_EXPORT [[gnu::visibility("default")]]

namespace gpu_sim::nvml {

struct NvmlError {
  nvmlReturn_t code;
};

inline void require_nvml(bool fine, nvmlReturn_t otherwise = kInvalidArgument) {
  if (!fine) {
    throw NvmlError{otherwise};
  }
}

// Whether nvmlInit was called more often than nvmlShutdown.
bool in_session();

// The device of a handle; throws kInvalidArgument, or kGpuIsLost.
Device& device_of(Model& model, nvmlDevice_t handle);

void put_pci(const Device& device, nvmlPciInfo_t& info);

// Puts `text` and its end into `length` characters; throws kInsufficientSize.
void put_text(std::string_view text, char* to, unsigned length);

// `body(Model&)` with the model locked: what it throws is returned.
template <typename Body>
nvmlReturn_t nvml_call(Body body) {
  Model& model = Model::get();
  const Lock lock(model.mutex);
  try {
    require_nvml(in_session(), kUninitialized);
    body(model);
    return kSuccess;
  } catch (const NvmlError& error) {
    return error.code;
  }
}

// The same for one device: `body(Device&)`.
template <typename Body>
nvmlReturn_t on_device(nvmlDevice_t handle, Body body) {
  return nvml_call([&](Model& model) { body(device_of(model, handle)); });
}

// For a device's one value.
template <typename T, typename Value>
nvmlReturn_t value_of(nvmlDevice_t handle, T* to, Value value) {
  return on_device(handle, [&](Device& device) {
    require_nvml(to != nullptr);
    *to = static_cast<T>(value(device));
  });
}

}  // namespace gpu_sim::nvml
