// Why a GPU's clocks are not at their maximum, as NVML's bits name it.
#pragma once

#include <string>
#include <vector>

namespace fleetbench::gpu::nvml {

// "sw_power_cap", "hw_thermal_slowdown"…, as `nvidia-smi --query-gpu=clocks_event_reasons.…` calls
// them; "bit 9" of one that is not known. An idle GPU's own reason is left out: it is none while
// something is measured.
std::vector<std::string> clock_event_reasons(unsigned long long bits);

}  // namespace fleetbench::gpu::nvml
