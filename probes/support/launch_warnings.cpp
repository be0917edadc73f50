#include "probes/support/launch_warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

namespace fleetbench {

namespace {

using Json = nlohmann::json;

// 256 ranks on one machine hang in start-up with 1024; 4096 leaves room for their connections.
constexpr double kFewestOpenFiles = 4096;

// Null where there is nothing.
const Json& value_at(const Json& inventory, const char* pointer) {
  static const Json nothing;
  const Json::json_pointer path(pointer);
  return inventory.contains(path) ? inventory.at(path) : nothing;
}

std::optional<double> number_at(const Json& inventory, const char* pointer) {
  const Json& value = value_at(inventory, pointer);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::optional<std::string> cpuset_warning(const Json& inventory) {
  const auto allowed = number_at(inventory, "/cpu/cpuset_cpu_count");
  const auto online = number_at(inventory, "/cpu/threads");
  if (!allowed || !online || *allowed >= *online) {
    return std::nullopt;
  }
  const Json& list = value_at(inventory, "/cpu/cpuset_cpus");
  return fmt::format(
      "The run may use {} of the node's {} CPUs ({}): ask the scheduler or container for the whole "
      "node, or compare only with nodes that are cut the same way.",
      *allowed, *online, list.is_string() ? list.get<std::string>() : "unknown");
}

std::optional<std::string> quota_warning(const Json& inventory) {
  const auto quota = number_at(inventory, "/cpu/cpu_quota_cores");
  auto cpus = number_at(inventory, "/cpu/cpuset_cpu_count");
  cpus = cpus ? cpus : number_at(inventory, "/cpu/threads");
  if (!quota || !cpus || *quota >= *cpus) {
    return std::nullopt;
  }
  return fmt::format(
      "A CPU quota of {:.4g} cores holds the run below its {} CPUs: remove the quota (cpu.max or "
      "cpu.cfs_quota_us, a container's CPU limit), or every CPU and storage figure is that of the "
      "quota.",
      *quota, *cpus);
}

std::optional<std::string> memory_warning(const Json& inventory) {
  constexpr double kGib = 1024.0 * 1024 * 1024;
  const auto limit = number_at(inventory, "/memory/memory_limit_bytes");
  const auto total = number_at(inventory, "/memory/total_bytes");
  if (!limit || !total || *limit >= *total) {
    return std::nullopt;
  }
  return fmt::format(
      "A memory limit of {:.4g} GiB is below the node's {:.4g} GiB: ask the scheduler or container "
      "for all of the memory, or large probes may be killed and caches measure small.",
      *limit / kGib, *total / kGib);
}

std::optional<std::string> governor_warning(const Json& inventory) {
  std::vector<std::string> others;
  const Json& governors = value_at(inventory, "/cpu/governors");
  for (std::size_t i = 0; governors.is_array() && i < governors.size(); ++i) {
    if (governors[i].is_string() && governors[i] != "performance") {
      others.push_back(governors[i].get<std::string>());
    }
  }
  if (others.empty()) {
    return std::nullopt;
  }
  return fmt::format(
      "The CPU frequency governor is {}: set it to performance (cpupower frequency-set -g "
      "performance), or clocks follow the load and figures scatter.",
      fmt::join(others, ", "));
}

std::optional<std::string> open_files_warning(const Json& inventory) {
  const auto limit = number_at(inventory, "/limits/nofile/soft");
  if (!limit || *limit >= kFewestOpenFiles) {
    return std::nullopt;
  }
  return fmt::format(
      "The limit of open files is {}: raise it to {} or more (ulimit -n, LimitNOFILE), or many "
      "ranks on one node hang in start-up.",
      *limit, kFewestOpenFiles);
}

}  // namespace

std::vector<std::string> launch_warnings(const Json& inventory) {
  std::vector<std::string> warnings;
  if (!inventory.is_object()) {
    return warnings;
  }
  for (const auto warning :
       {cpuset_warning, quota_warning, memory_warning, governor_warning, open_files_warning}) {
    if (auto text = warning(inventory)) {
      warnings.push_back(std::move(*text));
    }
  }
  return warnings;
}

}  // namespace fleetbench
