#include "probes/gpu/nvml/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace fleetbench::gpu::nvml {
namespace {

// NVML's "00000000:3B:00.0" in the letters of /sys.
std::string address_of(const PciInfo& info) {
  std::string text(info.address, std::find(info.address, std::end(info.address), '\0'));
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::size_t kShortDomain = 4;
  const std::size_t domain = std::min(text.find(':'), text.size());
  return domain > kShortDomain && text.starts_with("0000") ? text.substr(domain - kShortDomain)
                                                           : text;
}

const char* name_of(int ancestor) {
  switch (ancestor) {
    case kOneBoard:
    case kOneSwitch:
      return "PIX";
    case kSwitches:
      return "PXB";
    case kHostBridge:
      return "PHB";
    case kNumaNode:
      return "NODE";
    case kSystem:
      return "SYS";
    default:
      return "?";
  }
}

void count_link(const Calls& calls, Device device, unsigned link, LinkedGpu& gpu) {
  int up = 0;
  int end = 0;
  if (call(calls.nvlink_state, device, link, &up) != kSuccess || up == 0 ||
      call(calls.nvlink_remote_type, device, link, &end) != kSuccess) {
    return;
  }
  PciInfo remote{};
  if (end == kToSwitch) {
    ++gpu.to_switches;
  } else if (end == kToGpu && call(calls.nvlink_remote_pci, device, link, &remote) == kSuccess) {
    ++gpu.to_gpu[address_of(remote)];
  }
}

std::optional<LinkedGpu> linked_gpu(const Calls& calls, Device device, unsigned index) {
  PciInfo info{};
  if (call(calls.pci_info, device, &info) != kSuccess) {
    return std::nullopt;
  }
  LinkedGpu gpu{.index = index, .address = address_of(info), .to_gpu = {}};
  for (unsigned link = 0; link < kMostNvLinks; ++link) {
    count_link(calls, device, link, gpu);
  }
  return gpu;
}

std::optional<int> ancestor_of(const Calls& calls, Device a, Device b) {
  int level = 0;
  return call(calls.common_ancestor, a, b, &level) == kSuccess ? std::optional(level)
                                                               : std::nullopt;
}

using PairsOfKind = std::pair<std::string, std::vector<std::string>>;

std::vector<PairsOfKind> kinds_of(const Topology& topology) {
  std::map<std::string, std::vector<std::string>> by_kind;
  for (std::size_t i = 0; i < topology.gpus.size(); ++i) {
    for (std::size_t j = i + 1; j < topology.gpus.size(); ++j) {
      by_kind[topology.paths[i][j]].push_back(
          fmt::format("gpu{}-gpu{}", topology.gpus[i].index, topology.gpus[j].index));
    }
  }
  std::vector<PairsOfKind> kinds(by_kind.begin(), by_kind.end());
  std::ranges::stable_sort(kinds, {}, [](const PairsOfKind& kind) { return kind.second.size(); });
  return kinds;
}

}  // namespace

std::string path_between(const LinkedGpu& a, const LinkedGpu& b, std::optional<int> ancestor) {
  const auto direct = a.to_gpu.find(b.address);
  const int links =
      (direct == a.to_gpu.end() ? 0 : direct->second) + std::min(a.to_switches, b.to_switches);
  return links > 0 ? fmt::format("NV{}", links) : ancestor ? name_of(*ancestor) : "?";
}

std::string text_of(const Topology& topology) {
  const auto kinds = kinds_of(topology);
  if (kinds.empty()) {
    return "";
  }
  if (kinds.size() == 1) {
    return kinds.front().first;
  }
  std::string text;
  for (std::size_t i = 0; i + 1 < kinds.size(); ++i) {
    text += fmt::format("{} {}, ", kinds[i].first, fmt::join(kinds[i].second, " "));
  }
  return text + "else " + kinds.back().first;
}

std::string row_of(const Topology& topology, const std::string& address) {
  const auto own = std::ranges::find(topology.gpus, address, &LinkedGpu::address);
  std::vector<std::string> cells;
  for (std::size_t j = 0; own != topology.gpus.end() && j < topology.gpus.size(); ++j) {
    if (topology.gpus[j].address != address) {
      const auto row = static_cast<std::size_t>(own - topology.gpus.begin());
      cells.push_back(topology.gpus[j].address + " " + topology.paths[row][j]);
    }
  }
  return fmt::format("{}", fmt::join(cells, ", "));
}

Topology topology_of(const Library& library) {
  const Calls& calls = library.calls();
  Topology topology;
  std::vector<Device> devices;
  unsigned count = 0;
  call(calls.device_count, &count);
  for (unsigned index = 0; index < count; ++index) {
    Device device = nullptr;
    if (call(calls.handle_by_index, index, &device) != kSuccess) {
      continue;
    }
    if (auto gpu = linked_gpu(calls, device, index)) {
      topology.gpus.push_back(std::move(*gpu));
      devices.push_back(device);
    }
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    auto& row = topology.paths.emplace_back();
    for (std::size_t j = 0; j < devices.size(); ++j) {
      row.push_back(i == j ? "X"
                           : path_between(topology.gpus[i], topology.gpus[j],
                                          ancestor_of(calls, devices[i], devices[j])));
    }
  }
  return topology;
}

}  // namespace fleetbench::gpu::nvml
