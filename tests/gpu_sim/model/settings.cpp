#include "tests/gpu_sim/model/settings.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "tests/gpu_sim/model/setting_text.hpp"

namespace gpu_sim {

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) {
    throw BadSetting("the host's name cannot be read; set FLEETBENCH_GPU_SIM_NODE");
  }
  return name.data();
}

std::string text_setting(const char* name, std::string otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::move(otherwise) : std::string(value);
}

template <typename T>
T number_setting(const char* name, T otherwise, T least, T most) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    return otherwise;
  }
  try {
    return number_of<T>(value, least, most);
  } catch (const BadSetting& error) {
    throw BadSetting(std::string(name) + ": " + error.what());
  }
}

NvLink nvlink_setting() {
  constexpr const char* kVariable = "FLEETBENCH_GPU_SIM_NVLINK";
  constexpr std::array<std::pair<std::string_view, NvLink>, 3> kKinds{
      {{"switches", NvLink::switches}, {"bridges", NvLink::bridges}, {"none", NvLink::none}}};
  const std::string text = text_setting(kVariable, "switches");
  for (const auto& [name, kind] : kKinds) {
    if (text == name) {
      return kind;
    }
  }
  throw BadSetting(std::string(kVariable) + ": '" + text + "' is none of switches, bridges, none");
}

std::vector<Faults> gpus_of(const std::string& node) {
  const int count = number_setting<int>("FLEETBENCH_GPU_SIM_GPUS", 8, 0, 16);
  const std::string rules = text_setting("FLEETBENCH_GPU_SIM_FAULTS", "");
  std::vector<Faults> gpus;
  try {
    for (int gpu = 0; gpu < count; ++gpu) {
      gpus.push_back(faults_of(rules, node, gpu, count));
    }
  } catch (const BadSetting& error) {
    throw BadSetting(std::string("FLEETBENCH_GPU_SIM_FAULTS: ") + error.what());
  }
  return gpus;
}

}  // namespace

Settings settings_from_environment() {
  Settings settings;
  settings.node = text_setting("FLEETBENCH_GPU_SIM_NODE", "");
  if (settings.node.empty()) {
    settings.node = host_name();
  }
  settings.seed = number_setting<std::uint64_t>("FLEETBENCH_GPU_SIM_SEED", 1, 0, ~std::uint64_t{});
  settings.driver_version = text_setting("FLEETBENCH_GPU_SIM_DRIVER_VERSION", "580.65.06");
  settings.latency = number_setting<double>("FLEETBENCH_GPU_SIM_LATENCY", 1, 0, 1000);
  settings.numa_nodes = number_setting<int>("FLEETBENCH_GPU_SIM_NUMA_NODES", 1, 1, 16);
  settings.nvlink = nvlink_setting();
  settings.leaks_file = text_setting("FLEETBENCH_GPU_SIM_LEAKS", "");
  settings.gpus = gpus_of(settings.node);
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    settings.visible = visible;
  }
  return settings;
}

}  // namespace gpu_sim
