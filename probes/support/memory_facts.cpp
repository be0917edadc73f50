#include "probes/support/memory_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "probes/support/cpu_list.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {

namespace {

namespace fs = std::filesystem;

const fs::path kHugePages = "/sys/kernel/mm/hugepages";
const fs::path kTransparentHugePages = "/sys/kernel/mm/transparent_hugepage";
const fs::path kNumaNodes = "/sys/devices/system/node";

// The number in "hugepages-2048kB" or "node3".
std::optional<std::int64_t> number_in(std::string_view name, std::string_view before,
                                      std::string_view after) {
  if (!name.starts_with(before) || !name.ends_with(after) ||
      name.size() <= before.size() + after.size()) {
    return std::nullopt;
  }
  name.remove_prefix(before.size());
  name.remove_suffix(after.size());
  return parse_integer(name);
}

Json huge_pages(const HostFiles& files) {
  const auto names = files.list(kHugePages);
  if (!names) {
    return {};
  }
  Json sizes = Json::array();
  for (const std::string& name : *names) {
    if (const auto kib = number_in(name, "hugepages-", "kB")) {
      sizes.push_back({{"page_bytes", *kib * 1024},
                       {"total", fact(files.read_integer(kHugePages / name / "nr_hugepages"))},
                       {"free", fact(files.read_integer(kHugePages / name / "free_hugepages"))}});
    }
  }
  return sizes;
}

std::optional<std::string> chosen(const HostFiles& files, const fs::path& path) {
  const auto line = files.read_line(path);
  return line ? bracketed(*line) : std::nullopt;
}

Json distances(const std::optional<std::string>& line) {
  if (!line) {
    return {};
  }
  Json numbers = Json::array();
  for (const std::string_view word : words(*line)) {
    numbers.push_back(fact(parse_integer(word)));
  }
  return numbers;
}

Json numa_node(const HostFiles& files, std::int64_t node) {
  const fs::path folder = kNumaNodes / fmt::format("node{}", node);
  const std::string meminfo = files.read_text(folder / "meminfo").value_or("");
  const auto cpus = files.read_text(folder / "cpulist");  // a node of memory only has an empty list
  const auto parsed = cpus ? parse_cpu_list(*cpus) : std::nullopt;
  return {{"node", node},
          {"cpus", parsed ? Json(format_cpu_list(*parsed)) : Json()},
          {"memory_total_bytes", fact(field_bytes(meminfo, fmt::format("Node {} MemTotal", node)))},
          {"memory_free_bytes", fact(field_bytes(meminfo, fmt::format("Node {} MemFree", node)))},
          {"distances", distances(files.read_line(folder / "distance"))}};
}

}  // namespace

Json memory_facts(const HostFiles& files, std::optional<std::int64_t> memory_limit_bytes) {
  const std::string meminfo = files.read_text("/proc/meminfo").value_or("");
  return {{"total_bytes", fact(field_bytes(meminfo, "MemTotal"))},
          {"available_bytes", fact(field_bytes(meminfo, "MemAvailable"))},
          {"swap_total_bytes", fact(field_bytes(meminfo, "SwapTotal"))},
          {"memory_limit_bytes", fact(memory_limit_bytes)},
          {"huge_pages", huge_pages(files)},
          {"transparent_huge_pages", fact(chosen(files, kTransparentHugePages / "enabled"))},
          {"transparent_huge_pages_defrag", fact(chosen(files, kTransparentHugePages / "defrag"))},
          {"numa_balancing", fact(files.read_integer("/proc/sys/kernel/numa_balancing"))}};
}

Json numa_facts(const HostFiles& files) {
  const auto names = files.list(kNumaNodes);
  if (!names) {
    return {};
  }
  std::vector<std::int64_t> nodes;
  for (const std::string& name : *names) {
    if (const auto node = number_in(name, "node", "")) {
      nodes.push_back(*node);
    }
  }
  std::sort(nodes.begin(), nodes.end());
  Json facts = Json::array();
  for (const std::int64_t node : nodes) {
    facts.push_back(numa_node(files, node));
  }
  return facts;
}

}  // namespace fleetbench
