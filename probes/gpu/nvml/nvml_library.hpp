// NVML, opened when it is first needed: a node without it is measured all the same, and says so.
#pragma once

#include <memory>
#include <string>

#include "probes/gpu/nvml/nvml_api.hpp"

namespace fleetbench::gpu::nvml {

// The calls that are used. One that the installed driver lacks is null; call() takes that for "not
// supported".
struct Calls {
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  const char* (*error_string)(Return) = nullptr;
  Return (*driver_version)(char*, unsigned) = nullptr;
  Return (*handle_by_uuid)(const char*, Device*) = nullptr;
  Return (*vbios_version)(Device, char*, unsigned) = nullptr;
  Return (*clock)(Device, int, unsigned*) = nullptr;        // MHz
  Return (*max_clock)(Device, int, unsigned*) = nullptr;    // MHz
  Return (*temperature)(Device, int, unsigned*) = nullptr;  // °C
  Return (*power)(Device, unsigned*) = nullptr;             // mW
  Return (*power_limit)(Device, unsigned*) = nullptr;       // mW, enforced
  Return (*default_power_limit)(Device, unsigned*) = nullptr;
  Return (*clock_event_reasons)(Device, unsigned long long*) = nullptr;
  Return (*pcie_generation)(Device, unsigned*) = nullptr;
  Return (*pcie_width)(Device, unsigned*) = nullptr;
  Return (*max_pcie_generation)(Device, unsigned*) = nullptr;
  Return (*max_pcie_width)(Device, unsigned*) = nullptr;
  Return (*pcie_throughput)(Device, int, unsigned*) = nullptr;  // KB/s over the last 20 ms
  Return (*pcie_replays)(Device, unsigned*) = nullptr;
  Return (*ecc_errors)(Device, int, int, unsigned long long*) = nullptr;
  Return (*remapped_rows)(Device, unsigned*, unsigned*, unsigned*, unsigned*) = nullptr;
  Return (*nvlink_state)(Device, unsigned, int*) = nullptr;
  Return (*nvlink_errors)(Device, unsigned, int, unsigned long long*) = nullptr;
  Return (*nvlink_remote_type)(Device, unsigned, int*) = nullptr;
  Return (*nvlink_remote_pci)(Device, unsigned, PciInfo*) = nullptr;
  Return (*device_count)(unsigned*) = nullptr;
  Return (*handle_by_index)(unsigned, Device*) = nullptr;
  Return (*pci_info)(Device, PciInfo*) = nullptr;
  Return (*common_ancestor)(Device, Device, int*) = nullptr;
  Return (*memory_affinity)(Device, unsigned, unsigned long*, int) = nullptr;
  Return (*cpu_affinity)(Device, unsigned, unsigned long*) = nullptr;
  Return (*gpm_support)(Device, GpmSupport*) = nullptr;
  Return (*gpm_alloc)(GpmSample*) = nullptr;
  Return (*gpm_free)(GpmSample) = nullptr;
  Return (*gpm_sample)(Device, GpmSample) = nullptr;
  Return (*gpm_metrics)(GpmMetrics*) = nullptr;
  Return (*compute_mode)(Device, int*) = nullptr;
  Return (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;
  Return (*ecc_mode)(Device, int*, int*) = nullptr;
  Return (*event_set_create)(EventSet*) = nullptr;
  Return (*event_set_free)(EventSet) = nullptr;
  Return (*register_events)(Device, unsigned long long, EventSet) = nullptr;
  Return (*event_wait)(EventSet, EventData*, unsigned) = nullptr;
};

class Library {
 public:
  // Throws std::runtime_error saying why it cannot be used: not installed, a driver that is not
  // loaded, versions of driver and library that do not fit.
  Library();
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const Calls& calls() const { return calls_; }
  // The device with CUDA's UUID. Throws std::runtime_error.
  Device device(const std::string& uuid) const;
  std::string text(Return code) const;

 private:
  struct Close {
    void operator()(void* library) const;
  };

  std::unique_ptr<void, Close> library_;
  Calls calls_;
};

// The result of a call that may be missing.
template <typename... Arguments, typename... Given>
Return call(Return (*function)(Arguments...), Given... given) {
  return function == nullptr ? kNotSupported : function(given...);
}

}  // namespace fleetbench::gpu::nvml
