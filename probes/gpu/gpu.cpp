#include "probes/gpu/gpu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "probes/probe.hpp"

namespace fleetbench::gpu {
namespace {

std::string describe(cudaError_t code) {
  return fmt::format("{} ({})", cudaGetErrorString(code), cudaGetErrorName(code));
}

// "GPU-8f0c5a1e-…", as NVML and CUDA_VISIBLE_DEVICES have it.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    text += i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

// CUDA's "0000:3B:00.0" in the letters of /sys.
std::string pci_address_of(int index) {
  std::array<char, 32> text{};
  if (cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), index) != cudaSuccess) {
    cudaGetLastError();
    return "unknown address";
  }
  std::string address = text.data();
  std::ranges::transform(address, address.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return address;
}

GpuInfo info_of(int index) {
  GpuInfo info{.index = index, .pci_address = pci_address_of(index)};
  cudaDeviceProp properties{};
  if (const auto code = cudaGetDeviceProperties(&properties, index); code != cudaSuccess) {
    cudaGetLastError();
    throw CudaError(code, fmt::format("cudaGetDeviceProperties on GPU {} ({}): {}", index,
                                      info.pci_address, describe(code)));
  }
  info.uuid = uuid_text(properties.uuid);
  info.name = properties.name;
  info.compute_major = properties.major;
  info.compute_minor = properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.l2_bytes = properties.l2CacheSize;
  info.memory_bus_bits = properties.memoryBusWidth;
  return info;
}

[[noreturn]] void refuse(cudaError_t code) {
  int driver = 0;
  int runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (code == cudaErrorInsufficientDriver && driver > 0) {
    throw NotAvailable(fmt::format(
        "the NVIDIA driver of this node is good for CUDA {}, fleetbench-gpu-worker was built with "
        "{}: install a newer driver, or build with an older toolkit",
        version_text(driver), version_text(runtime)));
  }
  if (code == cudaErrorInsufficientDriver) {
    throw NotAvailable("this node has no NVIDIA driver (no libcuda.so.1)");
  }
  if (code == cudaErrorNoDevice) {
    throw NotAvailable(
        "CUDA finds no GPU here: there is none, or CUDA_VISIBLE_DEVICES or the container hides it");
  }
  throw CudaError(code, fmt::format("cudaGetDeviceCount: {}", describe(code)));
}

}  // namespace

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::vector<GpuInfo> visible_gpus() {
  int count = 0;
  if (const auto code = cudaGetDeviceCount(&count); code != cudaSuccess) {
    cudaGetLastError();
    refuse(code);
  }
  if (count == 0) {
    refuse(cudaErrorNoDevice);
  }
  std::vector<GpuInfo> gpus;
  std::optional<CudaError> last;
  for (int index = 0; index < count; ++index) {
    try {
      gpus.push_back(info_of(index));
    } catch (const CudaError& error) {
      last = error;  // one that is sick hides no other
    }
  }
  if (gpus.empty()) {
    throw CudaError(*last);
  }
  return gpus;
}

Gpu gpu_by_uuid(const std::string& uuid) {
  std::vector<std::string> names;
  for (const auto& info : visible_gpus()) {
    if (info.uuid == uuid) {
      return Gpu(info);
    }
    names.push_back(info.uuid);
  }
  throw NotAvailable(
      fmt::format("CUDA does not see {} any more; it sees {}", uuid, fmt::join(names, ", ")));
}

bool is_process_spoiled() {
  cudaGetLastError();
  const auto code = cudaStreamQuery(cudaStreamLegacy);
  cudaGetLastError();
  return code != cudaSuccess && code != cudaErrorNotReady && code != cudaErrorNoDevice &&
         code != cudaErrorInsufficientDriver;
}

Gpu::Gpu(GpuInfo info) : info_(std::move(info)) {}

std::string Gpu::label() const {
  return fmt::format("GPU {} ({})", info_.index, info_.pci_address);
}

void Gpu::select() const { check(cudaSetDevice(info_.index), "cudaSetDevice"); }

void Gpu::synchronize() const { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

void Gpu::check(cudaError_t code, const char* call) const {
  if (code == cudaSuccess) {
    return;
  }
  cudaGetLastError();
  std::string text = fmt::format("{} on {}: {}", call, label(), describe(code));
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  if (code == cudaErrorMemoryAllocation && cudaMemGetInfo(&free_bytes, &all_bytes) == cudaSuccess) {
    text += fmt::format("; {} of {} MiB are free: see `nvidia-smi` for who holds the rest",
                        free_bytes >> 20U, all_bytes >> 20U);
  }
  if (code == cudaErrorDevicesUnavailable) {
    text +=
        "; another process has it to itself, or its compute mode forbids it: see `nvidia-smi -q "
        "-d COMPUTE`";
  }
  throw CudaError(code, text);
}

}  // namespace fleetbench::gpu
