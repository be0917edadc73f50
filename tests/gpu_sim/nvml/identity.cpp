// Which devices there are and what they are called. Lost ones count, as with NVML.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>

#include "tests/gpu_sim/model/chip.hpp"
#include "tests/gpu_sim/nvml/call.hpp"

using namespace gpu_sim;
using namespace gpu_sim::nvml;

namespace {

std::string upper(std::string_view text) {
  std::string all(text);
  std::transform(all.begin(), all.end(), all.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return all;
}

// With the domain in eight digits.
std::string long_pci_text(const Device& device) { return "0000" + device.pci_text(); }

template <typename Which>
nvmlReturn_t find(nvmlDevice_t* handle, Which which) {
  return nvml_call([&](Model& model) {
    require_nvml(handle != nullptr);
    for (const auto& device : model.devices) {
      if (which(*device)) {
        *handle = reinterpret_cast<nvmlDevice_t>(device.get());
        device_of(model, *handle);
        return;
      }
    }
    throw NvmlError{kNotFound};
  });
}

}  // namespace

void gpu_sim::nvml::put_pci(const Device& device, nvmlPciInfo_t& info) {
  info = {};
  put_text(device.pci_text(), info.busIdLegacy, sizeof info.busIdLegacy);
  put_text(long_pci_text(device), info.busId, sizeof info.busId);
  info.domain = device.pci().domain;
  info.bus = device.pci().bus;
  info.pciDeviceId = chip::kPciVendorAndDevice;
  info.pciSubSystemId = chip::kPciSubsystem;
}

extern "C" {

NVML_EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  return nvml_call([&](Model& model) {
    require_nvml(count != nullptr);
    *count = static_cast<unsigned>(model.devices.size());
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* handle) {
  return nvml_call([&](Model& model) {
    require_nvml(handle != nullptr && index < model.devices.size());
    *handle = reinterpret_cast<nvmlDevice_t>(model.devices[index].get());
    device_of(model, *handle);
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* handle) {
  return uuid == nullptr
             ? kInvalidArgument
             : find(handle, [&](const Device& device) { return device.uuid_text() == uuid; });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* address,
                                                          nvmlDevice_t* handle) {
  return address == nullptr ? kInvalidArgument : find(handle, [&](const Device& device) {
    const std::string wanted = upper(address);
    return device.pci_text() == wanted || long_pci_text(device) == wanted;
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char* text, unsigned length) {
  return on_device(handle, [&](Device& device) { put_text(device.uuid_text(), text, length); });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char* text, unsigned length) {
  return on_device(handle, [&](Device&) { put_text(chip::kName, text, length); });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t handle, char* text, unsigned length) {
  return on_device(handle, [&](Device& device) { put_text(device.serial_text(), text, length); });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t handle, char* text,
                                                   unsigned length) {
  return on_device(handle, [&](Device&) { put_text("96.00.89.00.01", text, length); });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t handle, nvmlPciInfo_t* info) {
  return on_device(handle, [&](Device& device) {
    require_nvml(info != nullptr);
    put_pci(device, *info);
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t handle, int* mode) {
  return value_of(handle, mode, [](Device& device) { return device.faults().compute_mode; });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t handle, unsigned* current,
                                              unsigned* pending) {
  return on_device(handle, [&](Device& device) {
    require_nvml(current != nullptr && pending != nullptr);
    *current = *pending = device.faults().mig ? 1 : 0;
  });
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t handle, int* mode) {
  return value_of(handle, mode, [](Device&) { return 1; });
}

}  // extern "C"
