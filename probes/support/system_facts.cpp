#include "probes/support/system_facts.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "probes/support/text_fields.hpp"

namespace fleetbench {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 28> kSpeedOptions = {"mitigations",
                                                            "isolcpus",
                                                            "nohz",
                                                            "nohz_full",
                                                            "rcu_nocbs",
                                                            "nosmt",
                                                            "maxcpus",
                                                            "nr_cpus",
                                                            "idle",
                                                            "processor.max_cstate",
                                                            "intel_idle.max_cstate",
                                                            "intel_pstate",
                                                            "amd_pstate",
                                                            "cpufreq.default_governor",
                                                            "iommu",
                                                            "intel_iommu",
                                                            "amd_iommu",
                                                            "iommu.passthrough",
                                                            "pcie_aspm",
                                                            "pci",
                                                            "hugepages",
                                                            "hugepagesz",
                                                            "default_hugepagesz",
                                                            "transparent_hugepage",
                                                            "numa_balancing",
                                                            "tsc",
                                                            "clocksource",
                                                            "mem"};

constexpr std::array<std::string_view, 12> kModules = {
    "nvidia",  "nvidia_uvm", "nvidia_peermem", "gdrdrv", "amdgpu", "mlx5_core",
    "ib_core", "irdma",      "bnxt_re",        "efa",    "lustre", "beegfs"};

Json speed_options(const std::optional<std::string>& command_line) {
  if (!command_line) {
    return {};
  }
  Json found = Json::array();
  for (const std::string_view word : words(*command_line)) {
    const std::string_view name = word.substr(0, word.find('='));
    if (std::find(kSpeedOptions.begin(), kSpeedOptions.end(), name) != kSpeedOptions.end()) {
      found.push_back(word);
    }
  }
  return found;
}

// Version by name, null for a module that does not tell its version; a module that is not loaded is
// absent.
Json module_versions(const HostFiles& files) {
  if (!files.is_folder("/sys/module")) {
    return {};
  }
  Json versions = Json::object();
  for (const std::string_view name : kModules) {
    const fs::path folder = fs::path("/sys/module") / name;
    if (files.is_folder(folder)) {
      versions[std::string(name)] = fact(files.read_line(folder / "version"));
    }
  }
  return versions;
}

Json limit_value(std::string_view word) {
  return word == "unlimited" ? Json("unlimited") : fact(parse_integer(word));
}

// "Max open files            1024                 524288               files"
Json limit(std::string_view limits, std::string_view name) {
  for (const std::string_view line : split(limits, '\n')) {
    if (line.starts_with(name)) {
      const std::vector<std::string_view> values = words(line.substr(name.size()));
      return values.size() < 2
                 ? Json()
                 : Json{{"soft", limit_value(values[0])}, {"hard", limit_value(values[1])}};
    }
  }
  return {};
}

}  // namespace

Json machine_facts(const HostFiles& files) {
  Json facts = Json::object();
  const auto add = [&](const char* name, const char* file) {
    facts[name] = fact(files.read_line(fs::path("/sys/class/dmi/id") / file));
  };
  add("vendor", "sys_vendor");
  add("product", "product_name");
  add("board", "board_name");
  add("bios_vendor", "bios_vendor");
  add("bios_version", "bios_version");
  add("bios_date", "bios_date");
  add("product_serial", "product_serial");
  add("board_serial", "board_serial");
  return facts;
}

Json kernel_facts(const HostFiles& files) {
  const fs::path clocksource = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  return {{"release", fact(files.read_line("/proc/sys/kernel/osrelease"))},
          {"version", fact(files.read_line("/proc/sys/kernel/version"))},
          {"boot_id", fact(files.read_line("/proc/sys/kernel/random/boot_id"))},
          {"clocksource", fact(files.read_line(clocksource))},
          {"options", speed_options(files.read_line("/proc/cmdline"))},
          {"modules", module_versions(files)}};
}

std::optional<std::string> os_name(const HostFiles& files) {
  auto text = files.read_text("/etc/os-release");
  text = text ? text : files.read_text("/usr/lib/os-release");
  constexpr std::string_view kKey = "PRETTY_NAME=";
  for (const std::string_view line : split(text ? *text : std::string_view(), '\n')) {
    if (line.starts_with(kKey)) {
      std::string_view name = trimmed(line.substr(kKey.size()));
      const bool quoted = name.size() >= 2 && (name.front() == '"' || name.front() == '\'') &&
                          name.back() == name.front();
      return std::string(quoted ? name.substr(1, name.size() - 2) : name);
    }
  }
  return std::nullopt;
}

Json limit_facts(const HostFiles& files) {
  const std::string limits = files.read_text("/proc/self/limits").value_or("");
  return {{"nofile", limit(limits, "Max open files")},
          {"memlock_bytes", limit(limits, "Max locked memory")},
          {"nproc", limit(limits, "Max processes")},
          {"stack_bytes", limit(limits, "Max stack size")}};
}

}  // namespace fleetbench
