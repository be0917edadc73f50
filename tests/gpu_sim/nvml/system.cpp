// The session with NVML, and what it says of the whole machine.
#include <cstring>

#include "tests/gpu_sim/nvml/call.hpp"

namespace gpu_sim::nvml {

namespace {

int sessions = 0;  // with the model locked

bool any_gpu(const Model& model, bool Faults::*fault) {
  for (const Faults& faults : model.settings.gpus) {
    if (faults.*fault) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool in_session() { return sessions > 0; }

Device& device_of(Model& model, nvmlDevice_t handle) {
  for (const auto& device : model.devices) {
    if (reinterpret_cast<nvmlDevice_t>(device.get()) == handle) {
      require_nvml(!device->faults().gone, kGpuIsLost);
      return *device;
    }
  }
  throw NvmlError{kInvalidArgument};
}

void put_text(std::string_view text, char* to, unsigned length) {
  require_nvml(to != nullptr);
  require_nvml(length > text.size(), kInsufficientSize);
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
}

}  // namespace gpu_sim::nvml

using namespace gpu_sim;
using namespace gpu_sim::nvml;

extern "C" {

NVML_EXPORT nvmlReturn_t nvmlInit_v2() {
  Model& model = Model::get();
  const Lock lock(model.mutex);
  if (any_gpu(model, &Faults::no_libcuda)) {
    return kLibraryNotFound;
  }
  if (any_gpu(model, &Faults::no_driver)) {
    return kDriverNotLoaded;
  }
  ++sessions;
  model.ledger.opened("NVML session");
  return kSuccess;
}

NVML_EXPORT nvmlReturn_t nvmlShutdown() {
  return nvml_call([](Model& model) {
    --sessions;
    model.ledger.closed("NVML session");
  });
}

NVML_EXPORT const char* nvmlErrorString(nvmlReturn_t code) {
  switch (code) {
    case kSuccess:
      return "The operation was successful";
    case kUninitialized:
      return "Uninitialized";
    case kInvalidArgument:
      return "Invalid Argument";
    case kNotSupported:
      return "Not Supported";
    case kNotFound:
      return "Not Found";
    case kInsufficientSize:
      return "Insufficient Size";
    case kDriverNotLoaded:
      return "Driver Not Loaded";
    case kTimeout:
      return "Timeout";
    case kLibraryNotFound:
      return "NVML Shared Library Not Found";
    case kGpuIsLost:
      return "GPU is lost";
    case kVersionMismatch:
      return "Argument version mismatch";
    default:
      return "Unknown Error";
  }
}

NVML_EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return nvml_call([&](Model& model) { put_text(model.settings.driver_version, version, length); });
}

NVML_EXPORT nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return nvml_call(
      [&](Model& model) { put_text("13." + model.settings.driver_version, version, length); });
}

NVML_EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvml_call([&](Model& model) {
    require_nvml(version != nullptr);
    *version = model.driver_version();
  });
}

}  // extern "C"
