#include "probes/support/evidence_counters.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

#include "probes/support/cgroup_limits.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;

void add(Counters& counters, const std::string& kind, const std::string& place,
         std::optional<std::int64_t> value) {
  if (value && *value >= 0) {
    counters[kind][place] = *value;
  }
}

void add_context_switches(const HostFiles& files, Counters& counters) {
  const std::string stat = files.read_text("/proc/stat").value_or("");
  for (const auto line : split(stat, '\n')) {
    if (line.starts_with("ctxt ")) {
      add(counters, "context_switches", "", parse_integer(line.substr(5)));
    }
  }
}

void add_thermal(const HostFiles& files, Counters& counters) {
  const fs::path folder = "/sys/devices/system/cpu";
  for (const std::string& cpu : files.list(folder).value_or(std::vector<std::string>{})) {
    if (!cpu.starts_with("cpu") || cpu.size() == 3 || cpu[3] < '0' || cpu[3] > '9') {
      continue;
    }
    for (const char* part : {"core", "package"}) {
      add(counters, "thermal_throttles", cpu + " " + part,
          files.read_integer(folder / cpu / "thermal_throttle" /
                             (std::string(part) + "_throttle_count")));
    }
  }
}

struct TcpField {
  const char* file;
  const char* protocol;
  const char* name;
  const char* kind;
};
constexpr std::array<TcpField, 3> kTcpFields{
    {{"/proc/net/snmp", "Tcp:", "RetransSegs", "tcp_retransmits"},
     {"/proc/net/netstat", "TcpExt:", "TCPTimeouts", "tcp_timeouts"},
     {"/proc/net/netstat", "TcpExt:", "TCPLostRetransmit", "tcp_lost_retransmits"}}};

// The files have for each protocol a line of names and a line of values.
std::optional<std::int64_t> value_named(std::string_view text, std::string_view protocol,
                                        std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto line : split(text, '\n')) {
    if (!line.starts_with(protocol)) {
      continue;
    }
    const auto fields = words(line);
    if (names.empty()) {
      names = fields;
      continue;
    }
    const auto place = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    return place < std::min(names.size(), fields.size()) ? parse_integer(fields[place])
                                                         : std::nullopt;
  }
  return std::nullopt;
}

void add_tcp(const HostFiles& files, Counters& counters) {
  std::map<std::string, std::string> texts;
  for (const TcpField& field : kTcpFields) {
    const auto [text, is_new] = texts.try_emplace(field.file);
    if (is_new) {
      text->second = files.read_text(field.file).value_or("");
    }
    add(counters, field.kind, "", value_named(text->second, field.protocol, field.name));
  }
}

std::optional<std::int64_t> parse_hexadecimal(std::string_view text) {
  if (!text.starts_with("0x")) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

void add_disks(const HostFiles& files, Counters& counters) {
  for (const std::string& disk : files.list("/sys/block").value_or(std::vector<std::string>{})) {
    const auto text = files.read_line(fs::path("/sys/block") / disk / "device" / "ioerr_cnt");
    add(counters, "disk_errors", disk, text ? parse_hexadecimal(*text) : std::nullopt);
  }
  const fs::path ext4 = "/sys/fs/ext4";
  for (const std::string& disk : files.list(ext4).value_or(std::vector<std::string>{})) {
    add(counters, "disk_errors", disk + " ext4", files.read_integer(ext4 / disk / "errors_count"));
  }
}

struct AerFile {
  const char* file;
  const char* kind;
  const char* total;  // the line that counts all of the file's other lines
};
constexpr std::array<AerFile, 3> kAerFiles{
    {{"aer_dev_correctable", "pcie_correctable", "TOTAL_ERR_COR"},
     {"aer_dev_nonfatal", "pcie_nonfatal", "TOTAL_ERR_NONFATAL"},
     {"aer_dev_fatal", "pcie_fatal", "TOTAL_ERR_FATAL"}}};

void add_pcie(const HostFiles& files, Counters& counters) {
  const fs::path folder = "/sys/bus/pci/devices";
  for (const std::string& device : files.list(folder).value_or(std::vector<std::string>{})) {
    for (const AerFile& aer : kAerFiles) {
      const std::string text = files.read_text(folder / device / aer.file).value_or("");
      for (const auto line : split(text, '\n')) {
        const auto fields = words(line);
        if (fields.size() == 2 && fields[0] == aer.total) {
          add(counters, aer.kind, device, parse_integer(fields[1]));
        }
      }
    }
  }
}

}  // namespace

Counters read_counters(const HostFiles& files) {
  Counters counters;
  add_context_switches(files, counters);
  add(counters, "cpu_quota_throttles", "", cgroup_throttles(files));
  add_thermal(files, counters);
  add_tcp(files, counters);
  add_disks(files, counters);
  add_pcie(files, counters);
  return counters;
}

Counters rises(const Counters& before, const Counters& after) {
  Counters result;
  for (const auto& [kind, places] : after) {
    const auto earlier = before.find(kind);
    if (earlier == before.end()) {
      continue;
    }
    auto& risen = result[kind];
    for (const auto& [place, value] : places) {
      const auto old = earlier->second.find(place);
      if (old != earlier->second.end() && value > old->second) {
        risen[place] = value - old->second;
      }
    }
  }
  return result;
}

std::vector<std::string> gone_devices(const Counters& before, const Counters& after) {
  std::set<std::string> gone;
  for (const auto& [kind, places] : before) {
    const auto later = after.find(kind);
    for (const auto& [place, value] : places) {
      if (later == after.end() || !later->second.contains(place)) {
        gone.insert(place.substr(0, place.find(' ')));
      }
    }
  }
  gone.erase("");
  return {gone.begin(), gone.end()};
}

}  // namespace fleetbench
