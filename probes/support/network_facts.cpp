#include "probes/support/network_facts.hpp"

#include <algorithm>
#include <string>

#include "probes/support/pci_facts.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {

namespace {

namespace fs = std::filesystem;

const fs::path kNetworkFolder = "/sys/class/net";
const fs::path kInfinibandFolder = "/sys/class/infiniband";

std::optional<std::int64_t> not_negative(std::optional<std::int64_t> value) {
  return value && *value >= 0 ? value : std::nullopt;  // -1: unknown
}

std::optional<std::string> known(std::optional<std::string> text) {
  return text != "unknown" ? text : std::nullopt;
}

Json nic(const HostFiles& files, const std::string& name) {
  const fs::path folder = kNetworkFolder / name;
  const fs::path device = folder / "device";
  return {{"name", name},
          {"virtual", !files.is_folder(device)},
          {"speed_mbit", fact(not_negative(files.read_integer(folder / "speed")))},
          {"duplex", fact(known(files.read_line(folder / "duplex")))},
          {"mtu", fact(files.read_integer(folder / "mtu"))},
          {"operstate", fact(known(files.read_line(folder / "operstate")))},
          {"mac", fact(files.read_line(folder / "address"))},
          {"driver", fact(files.link_name(device / "driver"))},
          {"pci_address", fact(pci_address_of(files, device))},
          {"numa_node", fact(not_negative(files.read_integer(device / "numa_node")))}};
}

// The text behind the number of "4: ACTIVE".
std::optional<std::string> state_name(const std::optional<std::string>& line) {
  if (!line) {
    return std::nullopt;
  }
  const std::size_t colon = line->find(':');
  return colon == std::string::npos
             ? line
             : std::optional(std::string(trimmed(std::string_view(*line).substr(colon + 1))));
}

Json infiniband_port(const HostFiles& files, const std::string& device, const std::string& port) {
  const fs::path folder = kInfinibandFolder / device;
  const fs::path port_folder = folder / "ports" / port;
  const auto rate = files.read_line(port_folder / "rate");  // "400 Gb/sec (4X NDR)"
  return {{"device", device},
          {"port", fact(parse_integer(port))},
          {"state", fact(state_name(files.read_line(port_folder / "state")))},
          {"phys_state", fact(state_name(files.read_line(port_folder / "phys_state")))},
          {"rate", fact(rate)},
          {"rate_gbit", fact(rate ? leading_number(*rate) : std::nullopt)},
          {"link_layer", fact(files.read_line(port_folder / "link_layer"))},
          {"firmware", fact(files.read_line(folder / "fw_ver"))},
          {"board", fact(files.read_line(folder / "board_id"))},
          {"pci_address", fact(pci_address_of(files, folder / "device"))},
          {"numa_node", fact(not_negative(files.read_integer(folder / "device/numa_node")))}};
}

}  // namespace

FactList nic_facts(const HostFiles& files) {
  auto names = files.list(kNetworkFolder);
  if (!names) {
    return {};
  }
  std::erase_if(*names, [&](const std::string& name) {
    return name == "lo" || !files.is_folder(kNetworkFolder / name);  // bonding_masters is a file
  });
  std::stable_partition(names->begin(), names->end(), [&](const std::string& name) {
    return files.is_folder(kNetworkFolder / name / "device");
  });
  FactList facts{.entries = Json::array(), .left_off = cut_to(kMaxNics, *names)};
  for (const std::string& name : *names) {
    facts.entries.push_back(nic(files, name));
  }
  return facts;
}

Json infiniband_facts(const HostFiles& files) {
  const auto devices = files.list(kInfinibandFolder);
  if (!devices) {
    return {};
  }
  Json ports = Json::array();
  for (const std::string& device : *devices) {
    const auto numbers = files.list(kInfinibandFolder / device / "ports");
    for (const std::string& port : numbers.value_or(std::vector<std::string>())) {
      ports.push_back(infiniband_port(files, device, port));
    }
  }
  return ports;
}

}  // namespace fleetbench
