// One GPU as CUDA sees it, and the errors of the calls that are made for it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace fleetbench::gpu {

struct GpuInfo {
  int index = 0;     // as CUDA counts in this process; CUDA_VISIBLE_DEVICES changes it
  std::string uuid;  // "GPU-8f0c…": the same in every process and in NVML
  std::string name;
  std::string pci_address;  // "0000:3b:00.0", as in /sys/bus/pci/devices
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  int memory_bus_bits = 0;
};

// A CUDA call failed: "cudaMemcpyAsync on GPU 3 (0000:3b:00.0): unspecified launch failure
// (cudaErrorLaunchFailure)".
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const std::string& text) : std::runtime_error(text), code_(code) {}
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

// Checks the calls that are made for one device. Cheap to copy.
class Gpu {
 public:
  explicit Gpu(GpuInfo info);

  const GpuInfo& info() const { return info_; }
  // "GPU 3 (0000:3b:00.0)"
  std::string label() const;

  // Makes it the device of the calling thread. Throws CudaError.
  void select() const;
  // Throws CudaError where `code` is one; forgets the error that CUDA remembers for this thread.
  // Where memory is what is missing, the text says how much is free.
  void check(cudaError_t code, const char* call) const;
  // All work given to the device so far is done. Throws CudaError.
  void synchronize() const;

 private:
  GpuInfo info_;
};

// All that this process may use, by index, but for those that do not answer. Throws NotAvailable
// where there is none, naming what would help: no driver, a driver that is too old for this build,
// no device.
std::vector<GpuInfo> visible_gpus();

// The one with this UUID. Throws NotAvailable naming those that are there.
Gpu gpu_by_uuid(const std::string& uuid);

// Whether calls fail in this process now: most often an error that can never be got rid of, so that
// only another process can use the device again.
bool is_process_spoiled();

// "13.0" for 13000, as CUDA numbers its versions.
std::string version_text(int version);

}  // namespace fleetbench::gpu
