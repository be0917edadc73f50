#include "tests/gpu_sim/nccl/nccl_settings.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/gpu_sim/model/setting_text.hpp"

namespace gpu_sim::nccl {

namespace {

constexpr const char* kVersion = "FLEETBENCH_GPU_SIM_NCCL_VERSION";
constexpr const char* kNetwork = "FLEETBENCH_GPU_SIM_NCCL_NETWORK";
constexpr const char* kSwitches = "FLEETBENCH_GPU_SIM_SWITCHES";
constexpr const char* kSwitchFaults = "FLEETBENCH_GPU_SIM_SWITCH_FAULTS";

std::string text_setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

int code_of(std::string_view version) {
  const auto parts = parts_of(version, '.');
  if (parts.size() != 3) {
    throw BadSetting("'" + std::string(version) + "' is no version as 2.28.9");
  }
  return 10000 * number_of<int>(parts[0], 2, 9) + 100 * number_of<int>(parts[1], 9, 99) +
         number_of<int>(parts[2], 0, 99);
}

// Calls `take(name, value)` for each part NAME=VALUE of `rules`.
template <typename Take>
void for_each_rule(const std::string& rules, Take take) {
  for (const std::string_view rule : parts_of(rules, ';')) {
    if (rule.empty()) {
      continue;
    }
    const auto parts = parts_of(rule, '=', 2);
    if (parts.size() != 2 || parts[0].empty()) {
      throw BadSetting("'" + std::string(rule) + "' is not SWITCH=…");
    }
    take(std::string(parts[0]), parts[1]);
  }
}

void read_switches(NcclSettings& settings) {
  for_each_rule(text_setting(kSwitches, ""), [&](const std::string& leaf, std::string_view nodes) {
    for (const std::string_view node : parts_of(nodes, ',')) {
      settings.leaves[std::string(node)] = leaf;
    }
  });
}

void read_switch_faults(NcclSettings& settings) {
  for_each_rule(text_setting(kSwitchFaults, ""),
                [&](const std::string& leaf, std::string_view factor) {
                  bool is_there = false;
                  for (const auto& [node, of_node] : settings.leaves) {
                    is_there |= of_node == leaf;
                  }
                  if (!is_there) {
                    throw BadSetting("'" + leaf + "' is no switch of " + kSwitches);
                  }
                  settings.leaf_factors[leaf] = number_of<double>(factor, 0.001, 10);
                });
}

NcclSettings from_environment() {
  NcclSettings settings;
  const char* variable = kVersion;
  try {
    settings.version = text_setting(kVersion, "2.28.9");
    code_of(settings.version);
    settings.network = text_setting(kNetwork, "IB");
    variable = kSwitches;
    read_switches(settings);
    variable = kSwitchFaults;
    read_switch_faults(settings);
  } catch (const BadSetting& error) {
    std::fprintf(stderr, "gpu_sim: %s: %s\n", variable, error.what());
    _exit(64);
  }
  return settings;
}

[[gnu::constructor]] void read_at_load() { nccl_settings(); }

}  // namespace

int NcclSettings::version_code() const { return code_of(version); }

std::string NcclSettings::leaf_of(const std::string& node) const {
  const auto leaf = leaves.find(node);
  return leaf == leaves.end() ? "" : leaf->second;
}

double NcclSettings::factor_of(const std::string& leaf) const {
  const auto factor = leaf_factors.find(leaf);
  return factor == leaf_factors.end() ? 1 : factor->second;
}

const NcclSettings& nccl_settings() {
  static const auto* settings = new NcclSettings(from_environment());
  return *settings;
}

}  // namespace gpu_sim::nccl
