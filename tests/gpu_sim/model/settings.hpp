// What the environment says of the simulated machine. README.md describes the variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/gpu_sim/model/faults.hpp"

namespace gpu_sim {

// What joins the GPUs besides PCIe: all of them switches, neighbours (0 and 1, 2 and 3 …) a bridge.
enum class NvLink { switches, bridges, none };

struct Settings {
  std::string node;
  std::uint64_t seed = 1;
  std::string driver_version;  // of the driver, as NVML says it
  double latency = 1;          // factor on all fixed parts of times
  int numa_nodes = 1;
  NvLink nvlink = NvLink::switches;
  std::string leaks_file;  // empty: none
  std::vector<Faults> gpus;
  std::optional<std::string> visible;  // CUDA_VISIBLE_DEVICES
};

// Throws BadSetting, whose message names the variable.
Settings settings_from_environment();

}  // namespace gpu_sim
