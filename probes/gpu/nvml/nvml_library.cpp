#include "probes/gpu/nvml/nvml_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

namespace fleetbench::gpu::nvml {
namespace {

constexpr const char* kName = "libnvidia-ml.so.1";

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

// Newer names before older ones.
template <typename Function>
void find(void* library, const char* name, const char* older, Function& function) {
  find(library, name, function);
  if (function == nullptr) {
    find(library, older, function);
  }
}

void find_facts(void* library, Calls& calls) {
  find(library, "nvmlInit_v2", calls.init);
  find(library, "nvmlShutdown", calls.shutdown);
  find(library, "nvmlErrorString", calls.error_string);
  find(library, "nvmlSystemGetDriverVersion", calls.driver_version);
  find(library, "nvmlDeviceGetHandleByUUID", calls.handle_by_uuid);
  find(library, "nvmlDeviceGetVbiosVersion", calls.vbios_version);
  find(library, "nvmlDeviceGetMaxClockInfo", calls.max_clock);
  find(library, "nvmlDeviceGetEnforcedPowerLimit", calls.power_limit);
  find(library, "nvmlDeviceGetPowerManagementDefaultLimit", calls.default_power_limit);
  find(library, "nvmlDeviceGetMaxPcieLinkGeneration", calls.max_pcie_generation);
  find(library, "nvmlDeviceGetMaxPcieLinkWidth", calls.max_pcie_width);
  find(library, "nvmlDeviceGetComputeMode", calls.compute_mode);
  find(library, "nvmlDeviceGetMigMode", calls.mig_mode);
  find(library, "nvmlDeviceGetEccMode", calls.ecc_mode);
}

void find_topology(void* library, Calls& calls) {
  find(library, "nvmlDeviceGetCount_v2", calls.device_count);
  find(library, "nvmlDeviceGetHandleByIndex_v2", calls.handle_by_index);
  find(library, "nvmlDeviceGetPciInfo_v3", calls.pci_info);
  find(library, "nvmlDeviceGetTopologyCommonAncestor", calls.common_ancestor);
  find(library, "nvmlDeviceGetNvLinkRemoteDeviceType", calls.nvlink_remote_type);
  find(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2", calls.nvlink_remote_pci);
  find(library, "nvmlDeviceGetMemoryAffinity", calls.memory_affinity);
  find(library, "nvmlDeviceGetCpuAffinity", calls.cpu_affinity);
}

void find_gpm(void* library, Calls& calls) {
  find(library, "nvmlGpmQueryDeviceSupport", calls.gpm_support);
  find(library, "nvmlGpmSampleAlloc", calls.gpm_alloc);
  find(library, "nvmlGpmSampleFree", calls.gpm_free);
  find(library, "nvmlGpmSampleGet", calls.gpm_sample);
  find(library, "nvmlGpmMetricsGet", calls.gpm_metrics);
}

void find_readings(void* library, Calls& calls) {
  find(library, "nvmlDeviceGetClockInfo", calls.clock);
  find(library, "nvmlDeviceGetTemperature", calls.temperature);
  find(library, "nvmlDeviceGetPowerUsage", calls.power);
  find(library, "nvmlDeviceGetCurrentClocksEventReasons",
       "nvmlDeviceGetCurrentClocksThrottleReasons", calls.clock_event_reasons);
  find(library, "nvmlDeviceGetCurrPcieLinkGeneration", calls.pcie_generation);
  find(library, "nvmlDeviceGetCurrPcieLinkWidth", calls.pcie_width);
  find(library, "nvmlDeviceGetPcieThroughput", calls.pcie_throughput);
  find(library, "nvmlDeviceGetPcieReplayCounter", calls.pcie_replays);
  find(library, "nvmlDeviceGetTotalEccErrors", calls.ecc_errors);
  find(library, "nvmlDeviceGetRemappedRows", calls.remapped_rows);
  find(library, "nvmlDeviceGetNvLinkState", calls.nvlink_state);
  find(library, "nvmlDeviceGetNvLinkErrorCounter", calls.nvlink_errors);
  find(library, "nvmlEventSetCreate", calls.event_set_create);
  find(library, "nvmlEventSetFree", calls.event_set_free);
  find(library, "nvmlDeviceRegisterEvents", calls.register_events);
  find(library, "nvmlEventSetWait_v2", "nvmlEventSetWait", calls.event_wait);
}

}  // namespace

void Library::Close::operator()(void* library) const { dlclose(library); }

Library::Library() : library_(dlopen(kName, RTLD_NOW | RTLD_LOCAL)) {
  if (!library_) {
    throw std::runtime_error(fmt::format("{} cannot be opened: {}", kName, dlerror()));
  }
  find_facts(library_.get(), calls_);
  find_topology(library_.get(), calls_);
  find_readings(library_.get(), calls_);
  find_gpm(library_.get(), calls_);
  if (const Return code = call(calls_.init); code != kSuccess) {
    throw std::runtime_error(fmt::format("{} refuses: {}", kName, text(code)));
  }
}

Library::~Library() { call(calls_.shutdown); }

Device Library::device(const std::string& uuid) const {
  Device device = nullptr;
  if (const Return code = call(calls_.handle_by_uuid, uuid.c_str(), &device); code != kSuccess) {
    throw std::runtime_error(fmt::format("NVML does not give {}: {}", uuid, text(code)));
  }
  return device;
}

std::string Library::text(Return code) const {
  return calls_.error_string == nullptr ? fmt::format("code {}", code) : calls_.error_string(code);
}

}  // namespace fleetbench::gpu::nvml
