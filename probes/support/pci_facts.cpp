#include "probes/support/pci_facts.hpp"

#include <algorithm>
#include <array>

#include "probes/support/text_fields.hpp"

namespace fleetbench {

namespace {

namespace fs = std::filesystem;

const fs::path kPciDevices = "/sys/bus/pci/devices";
constexpr std::int64_t kWidestLink = 32;  // "no link" and "unknown" read 0, 63 or 255

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// "0000:3b:00.0"; the domain has more digits behind an Intel VMD.
bool is_pci_address(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  return parts.size() == 3 && parts[0].size() >= 4 && is_hex(parts[0]) && parts[1].size() == 2 &&
         is_hex(parts[1]) && parts[2].size() == 4 && parts[2][2] == '.' &&
         is_hex(parts[2].substr(0, 2)) && is_hex(parts[2].substr(3));
}

template <typename Value>
void add_known(Json& entry, const char* name, const std::optional<Value>& value) {
  if (value) {
    entry[name] = *value;
  }
}

std::optional<double> link_speed(const HostFiles& files, const fs::path& path) {
  const auto line = files.read_line(path);  // "16.0 GT/s PCIe", "8 GT/s" or "Unknown"
  return line ? leading_number(*line) : std::nullopt;
}

std::optional<std::int64_t> in_range(std::optional<std::int64_t> value, std::int64_t lowest,
                                     std::int64_t highest) {
  return value && *value >= lowest && *value <= highest ? value : std::nullopt;
}

void add_link(Json& entry, const HostFiles& files, const fs::path& folder) {
  const auto max_width = in_range(files.read_integer(folder / "max_link_width"), 1, kWidestLink);
  if (!max_width) {
    return;
  }
  entry["max_link_width"] = *max_width;
  add_known(entry, "current_link_width",  // 0: the link is down
            in_range(files.read_integer(folder / "current_link_width"), 0, kWidestLink));
  add_known(entry, "max_link_speed_gt_per_s", link_speed(files, folder / "max_link_speed"));
  add_known(entry, "current_link_speed_gt_per_s", link_speed(files, folder / "current_link_speed"));
}

Json pci_device(const HostFiles& files, const std::string& address) {
  const fs::path folder = kPciDevices / address;
  Json entry = {{"address", address}};
  add_known(entry, "class", files.read_line(folder / "class"));
  add_known(entry, "vendor", files.read_line(folder / "vendor"));
  add_known(entry, "device", files.read_line(folder / "device"));
  add_known(entry, "driver", files.link_name(folder / "driver"));
  add_known(entry, "numa_node", in_range(files.read_integer(folder / "numa_node"), 0, 1 << 16));
  add_link(entry, files, folder);
  return entry;
}

// VGA and 3D controllers; AMD's accelerators also come as "display controller" (MI100) and as
// "processing accelerator" (MI200 and later).
bool is_gpu(const Json& entry) {
  const std::string vendor = entry.value("vendor", "");
  const std::string kind = entry.value("class", "").substr(0, 6);
  const bool graphics = kind == "0x0300" || kind == "0x0302";
  return (vendor == kNvidiaVendor && graphics) ||
         (vendor == "0x1002" && (graphics || kind == "0x0380" || kind == "0x1200"));
}

}  // namespace

FactList pci_facts(const HostFiles& files) {
  auto addresses = files.list(kPciDevices);
  if (!addresses) {
    return {};
  }
  FactList facts{.entries = Json::array(), .left_off = cut_to(kMaxPciDevices, *addresses)};
  for (const std::string& address : *addresses) {
    facts.entries.push_back(pci_device(files, address));
  }
  return facts;
}

Json gpus_among(const Json& pci_entries) {
  if (pci_entries.is_null()) {
    return {};
  }
  Json gpus = Json::array();
  for (const Json& entry : pci_entries) {
    if (is_gpu(entry)) {
      gpus.push_back({{"address", entry.at("address")},
                      {"vendor", entry.at("vendor")},
                      {"device", entry.value("device", Json())}});
    }
  }
  return gpus;
}

std::optional<std::string> pci_address_of(const HostFiles& files, const fs::path& device_folder) {
  const auto path = files.resolved(device_folder);
  if (!path) {
    return std::nullopt;
  }
  std::optional<std::string> address;  // bridges come first, the device itself last
  for (const fs::path& part : *path) {
    if (is_pci_address(part.string())) {
      address = part.string();
    }
  }
  return address;
}

}  // namespace fleetbench
