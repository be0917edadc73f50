// Which devices there are, and which one a thread works on.
#include <cstring>

#include "tests/gpu_sim/cudart/call.hpp"

using gpu_sim::call;
using gpu_sim::CudaError;
using gpu_sim::Device;
using gpu_sim::Lock;
using gpu_sim::Model;
using gpu_sim::require;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return call([&](Model& model, Lock&) {
    require(count != nullptr);
    if (const auto error = model.start_error()) {
      if (*error == cudaErrorNoDevice) {
        *count = 0;
      }
      throw CudaError(*error);
    }
    *count = static_cast<int>(model.visible.size());
  });
}

cudaError_t cudaSetDevice(int device) {
  return call([&](Model& model, Lock&) { model.set_current(device); });
}

cudaError_t cudaGetDevice(int* device) {
  return call([&](Model& model, Lock&) {
    require(device != nullptr);
    model.device(model.current());
    *device = model.current();
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call([&](Model& model, Lock&) {
    const std::string address = model.device(device).pci_text();
    require(text != nullptr && length > static_cast<int>(address.size()));
    std::memcpy(text, address.c_str(), address.size() + 1);
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return call([&](Model& model, Lock&) {
    require(version != nullptr);
    *version = model.driver_version();
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return call([&](Model&, Lock&) {
    require(version != nullptr);
    *version = CUDART_VERSION;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call(
      [&](Model& model, Lock& lock) { model.wait_for_device(lock, model.current_device()); });
}

cudaError_t cudaDeviceReset() {
  return call([&](Model& model, Lock& lock) { model.reset(lock, model.current_device()); });
}

}  // extern "C"
