// What it costs to read the network's counters before or after a slot: a made-up machine with so
// many HCAs, each with a network interface, and 50 interfaces of containers. What firmware takes
// to answer comes on top.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "probes/support/evidence_counters.hpp"
#include "probes/support/network_ports.hpp"
#include "tests/unit/machine.hpp"

namespace {

using namespace fleetbench;
using Clock = std::chrono::steady_clock;

constexpr int kContainers = 50;
constexpr int kReadings = 500;

std::string interface_line(const std::string& name) {
  return name + ": 123456789012 1234567 0 0 0 0 0 0 123456789012 1234567 0 0 0 0 0 0\n";
}

void add_hca(const Machine& machine, const std::string& number) {
  const std::string port = "/sys/class/infiniband/mlx5_" + number + "/ports/1/";
  machine.write(port + "state", "4: ACTIVE\n");
  machine.write(port + "rate", "400 Gb/sec (4X NDR)\n");
  for (const char* name :
       {"symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors",
        "port_rcv_remote_physical_errors", "local_link_integrity_errors",
        "excessive_buffer_overrun_errors", "port_xmit_discards", "VL15_dropped", "port_xmit_wait",
        "port_xmit_data", "port_xmit_packets", "port_rcv_packets"}) {
    machine.write(port + "counters/" + name, "1234567890\n");
  }
  for (const char* name :
       {"out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "implied_nak_seq_err",
        "rnr_nak_retry_err", "duplicate_request", "out_of_buffer", "rx_icrc_encapsulated",
        "roce_adp_retrans", "roce_adp_retrans_to", "roce_slow_restart", "roce_slow_restart_trans",
        "np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled"}) {
    machine.write(port + "hw_counters/" + name, "1234\n");
  }
  const std::string nic = "/sys/class/net/ens" + number + "/";
  machine.write(nic + "device/vendor", "0x15b3\n");
  machine.write(nic + "carrier", "1\n");
  machine.write(nic + "speed", "400000\n");
  machine.write(nic + "carrier_down_count", "1\n");
  machine.write(nic + "statistics/rx_crc_errors", "0\n");
}

template <typename Read>
void print_time(const char* what, Read read) {
  std::vector<double> times_ms;
  for (int i = 0; i < kReadings; ++i) {
    const auto start = Clock::now();
    read();
    times_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::ranges::sort(times_ms);
  fmt::print("{:<44} {:.2f} ms (least {:.2f}, p95 {:.2f})\n", what, times_ms[kReadings / 2],
             times_ms.front(), times_ms[kReadings * 95 / 100]);
}

}  // namespace

int main() {
  for (const int hcas : {1, 8}) {
    const Machine machine;
    std::string interfaces;
    for (int i = 0; i < hcas; ++i) {
      add_hca(machine, std::to_string(i));
      interfaces += interface_line("ens" + std::to_string(i));
    }
    for (int i = 0; i < kContainers; ++i) {
      interfaces += interface_line("veth" + std::to_string(i));
    }
    machine.write("/proc/net/dev", interfaces);
    const HostFiles files = machine.files();
    print_time(fmt::format("one reading of {} HCAs, made up", hcas).c_str(),
               [&] { read_network_ports(files, {}); });
  }
  const HostFiles files;
  print_time("one reading of this machine's network",
             [&] { read_network_ports(files, read_driver_counters); });
  print_time("one reading of its other counters", [&] { read_counters(files); });
}
