// What a device says of itself.
#include <array>
#include <cstring>
#include <optional>

#include "tests/gpu_sim/cudart/call.hpp"
#include "tests/gpu_sim/model/chip.hpp"

namespace chip = gpu_sim::chip;
using gpu_sim::call;
using gpu_sim::Device;
using gpu_sim::Lock;
using gpu_sim::Model;
using gpu_sim::require;

namespace {

void fill_limits(cudaDeviceProp& properties) {
  properties.sharedMemPerBlock = chip::kSharedBytesPerBlock;
  properties.sharedMemPerBlockOptin = chip::kSharedBytesPerBlockOptin;
  properties.sharedMemPerMultiprocessor = chip::kSharedBytesPerMultiprocessor;
  properties.reservedSharedMemPerBlock = 1024;
  properties.regsPerBlock = 65536;
  properties.regsPerMultiprocessor = 65536;
  properties.warpSize = 32;
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsDim[0] = properties.maxThreadsDim[1] = 1024;
  properties.maxThreadsDim[2] = 64;
  properties.maxGridSize[0] = 0x7FFFFFFF;
  properties.maxGridSize[1] = properties.maxGridSize[2] = 65535;
  properties.totalConstMem = 65536;
  properties.maxThreadsPerMultiProcessor = chip::kThreadsPerMultiprocessor;
  properties.maxBlocksPerMultiProcessor = chip::kBlocksPerMultiprocessor;
}

void fill_abilities(cudaDeviceProp& properties) {
  properties.canMapHostMemory = 1;
  properties.concurrentKernels = 1;
  properties.ECCEnabled = 1;
  properties.asyncEngineCount = 3;
  properties.unifiedAddressing = 1;
  properties.streamPrioritiesSupported = 1;
  properties.canUseHostPointerForRegisteredMem = 1;
  properties.hostRegisterSupported = 1;
}

void fill_identity(cudaDeviceProp& properties, const Device& device) {
  std::strncpy(properties.name, chip::kName, sizeof properties.name - 1);
  std::memcpy(properties.uuid.bytes, device.uuid().data(), device.uuid().size());
  properties.totalGlobalMem = device.memory_bytes();
  properties.major = chip::kMajor;
  properties.minor = chip::kMinor;
  properties.multiProcessorCount = chip::kMultiprocessors;
  properties.l2CacheSize = chip::kL2Bytes;
  properties.memoryBusWidth = chip::kMemoryBusBits;
  properties.pciDomainID = static_cast<int>(device.pci().domain);
  properties.pciBusID = static_cast<int>(device.pci().bus);
  properties.gpuPciDeviceID = chip::kPciVendorAndDevice;
  properties.gpuPciSubsystemID = chip::kPciSubsystem;
  properties.hostNumaId = device.numa_node();
  properties.deviceNumaId = -1;
}

// Those that are the same for all devices.
struct Attribute {
  cudaDeviceAttr which;
  int value;
};
constexpr std::array kAttributes{
    Attribute{cudaDevAttrMaxThreadsPerBlock, 1024},
    Attribute{cudaDevAttrWarpSize, 32},
    Attribute{cudaDevAttrClockRate, chip::kSmClockMhz * 1000},
    Attribute{cudaDevAttrMemoryClockRate, chip::kMemoryClockMhz * 1000},
    Attribute{cudaDevAttrGlobalMemoryBusWidth, chip::kMemoryBusBits},
    Attribute{cudaDevAttrMultiProcessorCount, chip::kMultiprocessors},
    Attribute{cudaDevAttrMaxThreadsPerMultiProcessor, chip::kThreadsPerMultiprocessor},
    Attribute{cudaDevAttrL2CacheSize, chip::kL2Bytes},
    Attribute{cudaDevAttrPciDeviceId, 0},
    Attribute{cudaDevAttrComputeCapabilityMajor, chip::kMajor},
    Attribute{cudaDevAttrComputeCapabilityMinor, chip::kMinor},
    Attribute{cudaDevAttrAsyncEngineCount, 3},
    Attribute{cudaDevAttrUnifiedAddressing, 1},
    Attribute{cudaDevAttrCanMapHostMemory, 1},
    Attribute{cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
    Attribute{cudaDevAttrHostRegisterSupported, 1},
    Attribute{cudaDevAttrConcurrentKernels, 1},
    Attribute{cudaDevAttrEccEnabled, 1},
    Attribute{cudaDevAttrIntegrated, 0},
    Attribute{cudaDevAttrKernelExecTimeout, 0},
    Attribute{cudaDevAttrTccDriver, 0}};

// Nothing for an attribute that the simulation lacks.
std::optional<int> attribute_of(const Device& device, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrComputeMode:
      return static_cast<int>(device.faults().compute_mode);
    case cudaDevAttrPciDomainId:
      return static_cast<int>(device.pci().domain);
    case cudaDevAttrPciBusId:
      return static_cast<int>(device.pci().bus);
    case cudaDevAttrHostNumaId:
      return device.numa_node();
    default:
      break;
  }
  for (const Attribute& known : kAttributes) {
    if (known.which == attribute) {
      return known.value;
    }
  }
  return std::nullopt;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call([&](Model& model, Lock&) {
    require(properties != nullptr);
    const Device& found = model.device(device);
    *properties = {};
    fill_identity(*properties, found);
    fill_limits(*properties);
    fill_abilities(*properties);
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call([&](Model& model, Lock&) {
    const auto found = attribute_of(model.device(device), attribute);
    require(value != nullptr && found.has_value());
    *value = *found;
  });
}

}  // extern "C"
