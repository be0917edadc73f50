#include "probes/support/cpu_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "probes/support/text_fields.hpp"

namespace fleetbench {

namespace {

constexpr int kMaxCpu = 65535;  // eight times what Linux can have; keeps "0-9999999999" harmless

std::optional<int> parse_cpu(std::string_view text) {
  const bool digits_only = text.find_first_not_of("0123456789") == std::string_view::npos;
  const auto cpu = digits_only ? parse_integer(text) : std::nullopt;
  return cpu && *cpu <= kMaxCpu ? std::optional(static_cast<int>(*cpu)) : std::nullopt;
}

bool insert_range(std::string_view text, std::set<int>& cpus) {
  const std::size_t dash = text.find('-');
  const auto first = parse_cpu(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_cpu(text.substr(dash + 1));
  if (!first || !last || *first > *last) {
    return false;
  }
  for (int cpu = *first; cpu <= *last; ++cpu) {
    cpus.insert(cpus.end(), cpu);
  }
  return true;
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::set<int> cpus;
  const std::string_view list = trimmed(text);
  if (list.empty()) {
    return std::vector<int>();
  }
  for (const std::string_view range : split(list, ',')) {
    if (!insert_range(range, cpus)) {
      return std::nullopt;
    }
  }
  return std::vector<int>(cpus.begin(), cpus.end());
}

std::string format_cpu_list(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t first = 0, next = 0; first < cpus.size(); first = next) {
    next = first + 1;
    while (next < cpus.size() && cpus[next] == cpus[next - 1] + 1) {
      ++next;
    }
    text += text.empty() ? "" : ",";
    text += next == first + 1 ? fmt::format("{}", cpus[first])
                              : fmt::format("{}-{}", cpus[first], cpus[next - 1]);
  }
  return text;
}

}  // namespace fleetbench
