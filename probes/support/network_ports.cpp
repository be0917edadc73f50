#include "probes/support/network_ports.hpp"

#include <array>
#include <limits>

#include "probes/support/infiniband_ports.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;

// Columns of /proc/net/dev after the colon: received bytes, packets, errs, drop, fifo, frame,
// compressed, multicast; then sent bytes, packets, errs, drop, fifo, colls, carrier, compressed.
// One read tells all interfaces, of which a host of containers has hundreds.
struct Column {
  std::size_t index;
  const char* kind;
  const char* name;
};
constexpr std::size_t kColumns = 16;
constexpr std::array<Column, 10> kUsed{{{0, "bytes", "rx_bytes"},
                                        {1, "packets_received", "rx_packets"},
                                        {2, "nic_errors", "rx_errors"},
                                        {3, "nic_drops", "rx_drops"},
                                        {4, "nic_drops", "rx_fifo"},
                                        {8, "bytes", "tx_bytes"},
                                        {9, "packets_sent", "tx_packets"},
                                        {10, "nic_errors", "tx_errors"},
                                        {11, "nic_drops", "tx_drops"},
                                        {14, "nic_errors", "tx_carrier"}}};

void add(PortCounters& counters, const char* kind, const char* name,
         std::optional<std::int64_t> value) {
  if (value && *value >= 0) {
    counters[kind][name] = *value;
  }
}

NetworkPorts read_interfaces(const HostFiles& files) {
  NetworkPorts ports;
  const std::string text = files.read_text("/proc/net/dev").value_or("");
  for (const auto line : split(text, '\n')) {
    const auto colon = line.rfind(':');  // an alias has one in its name
    if (colon == std::string_view::npos || line.find('|') != std::string_view::npos) {
      continue;
    }
    const std::string name(trimmed(line.substr(0, colon)));
    const auto fields = words(line.substr(colon + 1));
    if (name.empty() || name == "lo" || fields.size() < kColumns) {
      continue;
    }
    for (const Column& column : kUsed) {
      add(ports[name].counters, column.kind, column.name, parse_integer(fields[column.index]));
    }
  }
  return ports;
}

void add_driver_counters(const std::vector<DriverCounter>& counters, NetworkPort& port) {
  std::map<std::string, std::map<std::string, std::int64_t>> packets;
  for (const DriverCounter& counter : counters) {
    const auto kind = kind_of_driver_counter(counter.name);
    if (!kind || counter.value > std::numeric_limits<std::int64_t>::max()) {
      continue;
    }
    const std::string name(*kind);
    auto& place = name.starts_with("packets") ? packets[name] : port.counters[name];
    place[counter.name] = static_cast<std::int64_t>(counter.value);
  }
  for (auto& [kind, on_the_wire] : packets) {
    port.counters[kind] = std::move(on_the_wire);  // what Linux counts leaves RDMA out
  }
}

// What costs a read of its own, or asks the hardware: of interfaces that have some.
void add_hardware(const HostFiles& files, const DriverCounterReader& of_driver,
                  const std::string& name, NetworkPort& port) {
  const fs::path folder = fs::path("/sys/class/net") / name;
  add(port.counters, "link_losses", "carrier", files.read_integer(folder / "carrier_down_count"));
  const auto carrier = files.read_integer(folder / "carrier");  // unreadable: not in use
  if (carrier == 0) {
    port.gbit = 0;
  } else if (const auto mbit = files.read_integer(folder / "speed"); carrier && mbit && *mbit > 0) {
    port.gbit = static_cast<double>(*mbit) / 1000;
  }
  if (carrier == 1 && of_driver) {
    add_driver_counters(of_driver(name), port);
  }
  if (!port.counters.contains("nic_port_errors")) {  // else it is one of them
    add(port.counters, "nic_port_errors", "rx_crc_errors",
        files.read_integer(folder / "statistics/rx_crc_errors"));
  }
}

}  // namespace

NetworkPorts read_network_ports(const HostFiles& files, const DriverCounterReader& of_driver) {
  NetworkPorts ports = read_interfaces(files);
  for (auto& [name, port] : ports) {
    port.hardware = files.is_folder(fs::path("/sys/class/net") / name / "device");
    if (port.hardware) {
      add_hardware(files, of_driver, name, port);
    }
  }
  ports.merge(read_infiniband_ports(files));
  return ports;
}

}  // namespace fleetbench
