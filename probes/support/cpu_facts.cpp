#include "probes/support/cpu_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "probes/support/cpu_list.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {

namespace {

namespace fs = std::filesystem;

const fs::path kCpuFolder = "/sys/devices/system/cpu";

// What OpenBLAS, oneDNN and libjpeg-turbo choose by, and whether this is a virtual machine.
constexpr std::array<std::string_view, 22> kFlags = {
    "hypervisor",  "avx",         "avx2",     "fma",      "f16c",     "avx_vnni",
    "avx512f",     "avx512bw",    "avx512dq", "avx512vl", "avx512cd", "avx512_vnni",
    "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16", "asimd",
    "asimdhp",     "sve",         "sve2",     "bf16"};

std::optional<std::string> model(std::string_view cpuinfo) {
  if (auto name = field_value(cpuinfo, "model name")) {
    return name;
  }
  const auto implementer = field_value(cpuinfo, "CPU implementer");  // Arm has numbers, no name
  const auto part = field_value(cpuinfo, "CPU part");
  return implementer && part
             ? std::optional(fmt::format("implementer {} part {}", *implementer, *part))
             : std::nullopt;
}

Json flags(std::string_view cpuinfo) {
  auto line = field_value(cpuinfo, "flags");
  line = line ? line : field_value(cpuinfo, "Features");  // Arm
  if (!line) {
    return {};
  }
  const std::vector<std::string_view> all = words(*line);
  Json found = Json::array();
  for (const std::string_view flag : kFlags) {
    if (std::find(all.begin(), all.end(), flag) != all.end()) {
      found.push_back(flag);
    }
  }
  return found;
}

std::optional<std::vector<int>> read_cpu_list(const std::optional<std::string>& text) {
  return text ? parse_cpu_list(*text) : std::nullopt;
}

void add_cpus(Json& facts, const std::string& name, const std::string& count_name,
              const std::optional<std::vector<int>>& cpus) {
  facts[name] = cpus ? Json(format_cpu_list(*cpus)) : Json();
  facts[count_name] = cpus ? Json(cpus->size()) : Json();
}

// Counted over the CPUs that are online: the others have no topology.
void add_topology(Json& facts, const HostFiles& files, const std::vector<int>& online) {
  std::set<std::int64_t> sockets;
  std::set<std::string> cores;  // each known by the list of its threads
  for (const int cpu : online) {
    const fs::path topology = kCpuFolder / fmt::format("cpu{}", cpu) / "topology";
    if (const auto socket = files.read_integer(topology / "physical_package_id")) {
      sockets.insert(*socket);
    }
    auto threads = files.read_line(topology / "core_cpus_list");
    threads =
        threads ? threads : files.read_line(topology / "thread_siblings_list");  // Linux < 5.3
    if (threads) {
      cores.insert(*threads);
    }
  }
  sockets.erase(-1);  // Arm firmware that does not say
  facts["sockets"] = sockets.empty() ? Json() : Json(sockets.size());
  facts["cores"] = cores.empty() ? Json() : Json(cores.size());
}

struct Range {
  std::optional<std::int64_t> lowest;
  std::optional<std::int64_t> highest;
};

// Over all frequency policies (a policy is a group of CPUs that are clocked together).
Range hertz(const HostFiles& files, const std::vector<fs::path>& policies, const char* file) {
  Range range;
  for (const fs::path& policy : policies) {
    const auto khz = files.read_integer(policy / file);
    if (!khz || *khz <= 0 || *khz > 1'000'000'000) {
      continue;
    }
    range.lowest = std::min(range.lowest.value_or(*khz * 1000), *khz * 1000);
    range.highest = std::max(range.highest.value_or(*khz * 1000), *khz * 1000);
  }
  return range;
}

std::vector<fs::path> frequency_policies(const HostFiles& files) {
  std::vector<fs::path> policies;
  for (const std::string& name :
       files.list(kCpuFolder / "cpufreq").value_or(std::vector<std::string>())) {
    if (name.starts_with("policy")) {
      policies.push_back(kCpuFolder / "cpufreq" / name);
    }
  }
  return policies;
}

std::optional<bool> boost(const HostFiles& files) {
  if (const auto off = files.read_integer(kCpuFolder / "intel_pstate/no_turbo")) {
    return *off == 0;
  }
  const auto on = files.read_integer(kCpuFolder / "cpufreq/boost");
  return on ? std::optional(*on != 0) : std::nullopt;
}

void add_frequencies(Json& facts, const HostFiles& files) {
  const std::vector<fs::path> policies = frequency_policies(files);
  std::set<std::string> governors;
  std::set<std::string> drivers;
  for (const fs::path& policy : policies) {
    governors.insert(files.read_line(policy / "scaling_governor").value_or(""));
    drivers.insert(files.read_line(policy / "scaling_driver").value_or(""));
  }
  governors.erase("");
  drivers.erase("");
  facts["governors"] = governors.empty() ? Json() : Json(governors);
  facts["frequency_driver"] = drivers.empty() ? Json() : Json(*drivers.begin());
  facts["min_frequency_hz"] = fact(hertz(files, policies, "cpuinfo_min_freq").lowest);
  facts["max_frequency_hz"] = fact(hertz(files, policies, "cpuinfo_max_freq").highest);
  facts["base_frequency_hz"] = fact(hertz(files, policies, "base_frequency").lowest);
  // An administrator's or a daemon's cap, of the CPU that is held lowest.
  facts["allowed_max_frequency_hz"] = fact(hertz(files, policies, "scaling_max_freq").lowest);
  facts["boost"] = fact(boost(files));
}

std::optional<bool> smt(const HostFiles& files) {
  const auto active = files.read_integer(kCpuFolder / "smt/active");
  return active ? std::optional(*active != 0) : std::nullopt;
}

}  // namespace

Json cpu_facts(const HostFiles& files, std::optional<double> cpu_quota_cores) {
  const std::string cpuinfo = files.read_text("/proc/cpuinfo").value_or("");
  const auto online = read_cpu_list(files.read_line(kCpuFolder / "online"));
  const std::string status = files.read_text("/proc/self/status").value_or("");
  Json facts = {{"model", fact(model(cpuinfo))},
                {"microcode", fact(field_value(cpuinfo, "microcode"))},
                {"flags", flags(cpuinfo)},
                {"smt", fact(smt(files))},
                {"cpu_quota_cores", fact(cpu_quota_cores)}};
  add_cpus(facts, "cpus_online", "threads", online);
  add_cpus(facts, "cpuset_cpus", "cpuset_cpu_count",
           read_cpu_list(field_value(status, "Cpus_allowed_list")));
  add_topology(facts, files, online.value_or(std::vector<int>()));
  add_frequencies(facts, files);
  return facts;
}

}  // namespace fleetbench
