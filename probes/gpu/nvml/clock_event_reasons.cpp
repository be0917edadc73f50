#include "probes/gpu/nvml/clock_event_reasons.hpp"

#include <fmt/format.h>

#include <array>

namespace fleetbench::gpu::nvml {
namespace {

// By bit. The first is "idle".
constexpr std::array<const char*, 9> kReasons{"gpu_idle",
                                              "applications_clocks_setting",
                                              "sw_power_cap",
                                              "hw_slowdown",
                                              "sync_boost",
                                              "sw_thermal_slowdown",
                                              "hw_thermal_slowdown",
                                              "hw_power_brake_slowdown",
                                              "display_clocks_setting"};
constexpr std::size_t kBits = 64;

}  // namespace

std::vector<std::string> clock_event_reasons(unsigned long long bits) {
  std::vector<std::string> reasons;
  for (std::size_t bit = 1; bit < kBits; ++bit) {
    if ((bits >> bit & 1U) != 0) {
      reasons.push_back(bit < kReasons.size() ? kReasons[bit] : fmt::format("bit {}", bit));
    }
  }
  return reasons;
}

}  // namespace fleetbench::gpu::nvml
