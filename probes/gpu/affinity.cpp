#include "probes/gpu/affinity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <climits>
#include <vector>

namespace fleetbench::gpu {
namespace {

constexpr std::size_t kBitsOfWord = sizeof(unsigned long) * CHAR_BIT;
// Room for 4096 processors, and for as many NUMA nodes.
using Mask = std::array<unsigned long, 64>;

bool has(std::span<const unsigned long> mask, std::size_t bit) {
  return bit / kBitsOfWord < mask.size() &&
         (mask[bit / kBitsOfWord] >> bit % kBitsOfWord & 1U) != 0;
}

std::string numa_node_of(const nvml::Calls& calls, nvml::Device device) {
  Mask mask{};
  return nvml::call(calls.memory_affinity, device, static_cast<unsigned>(mask.size()), mask.data(),
                    nvml::kScopeOfNumaNode) == nvml::kSuccess
             ? list_text(mask)
             : "";
}

std::string cpus_of(const nvml::Calls& calls, nvml::Device device) {
  Mask mask{};
  return nvml::call(calls.cpu_affinity, device, static_cast<unsigned>(mask.size()), mask.data()) ==
                 nvml::kSuccess
             ? list_text(mask)
             : "";
}

}  // namespace

std::string list_text(std::span<const unsigned long> mask) {
  std::vector<std::string> ranges;
  for (std::size_t bit = 0; bit < mask.size() * kBitsOfWord; ++bit) {
    if (!has(mask, bit)) {
      continue;
    }
    const std::size_t first = bit;
    while (has(mask, bit + 1)) {
      ++bit;
    }
    ranges.push_back(first == bit ? fmt::format("{}", bit) : fmt::format("{}-{}", first, bit));
  }
  return fmt::format("{}", fmt::join(ranges, ","));
}

Json affinity_facts(const std::string& address, const HostFiles& files, const nvml::Calls& calls,
                    nvml::Device device) {
  Json facts = Json::object();
  const std::string folder = "/sys/bus/pci/devices/" + address;
  const auto node = files.read_integer(folder + "/numa_node");
  const std::string numa_node =
      node && *node >= 0 ? fmt::format("{}", *node) : numa_node_of(calls, device);  // -1: not told
  const auto listed = files.read_line(folder + "/local_cpulist");
  const std::string cpus = listed ? *listed : cpus_of(calls, device);
  if (!numa_node.empty()) {
    facts["numa_node"] = numa_node;
  }
  if (!cpus.empty()) {
    facts["cpus"] = cpus;
  }
  return facts;
}

}  // namespace fleetbench::gpu
