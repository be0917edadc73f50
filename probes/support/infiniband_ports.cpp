#include "probes/support/infiniband_ports.hpp"

#include <array>

#include "probes/support/text_fields.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;

struct PortFile {
  const char* kind;
  const char* name;
};

// Of the port, as the InfiniBand architecture defines them (volume 1, 16.1.3.5).
constexpr std::array<PortFile, 13> kCounters{{{"ib_errors", "symbol_error"},
                                              {"ib_errors", "link_error_recovery"},
                                              {"ib_errors", "link_downed"},
                                              {"ib_errors", "port_rcv_errors"},
                                              {"ib_errors", "port_rcv_remote_physical_errors"},
                                              {"ib_errors", "local_link_integrity_errors"},
                                              {"ib_errors", "excessive_buffer_overrun_errors"},
                                              {"ib_discards", "port_xmit_discards"},
                                              {"ib_discards", "VL15_dropped"},
                                              {"port_xmit_wait", "port_xmit_wait"},
                                              {"words_sent", "port_xmit_data"},
                                              {"packets_sent", "port_xmit_packets"},
                                              {"packets_received", "port_rcv_packets"}}};

// Of RDMA over the port, as its driver counts them: mlx5, and those that follow its names.
constexpr std::array<PortFile, 18> kHardwareCounters{
    {{"rdma_errors", "out_of_sequence"},
     {"rdma_errors", "packet_seq_err"},
     {"rdma_errors", "local_ack_timeout_err"},
     {"rdma_errors", "implied_nak_seq_err"},
     {"rdma_errors", "rnr_nak_retry_err"},
     {"rdma_errors", "duplicate_request"},
     {"rdma_errors", "out_of_buffer"},
     {"rdma_errors", "rx_icrc_encapsulated"},
     {"rdma_errors", "req_transport_retries_exceeded"},
     {"rdma_errors", "roce_adp_retrans"},
     {"rdma_errors", "roce_adp_retrans_to"},
     {"rdma_errors", "roce_slow_restart"},
     {"rdma_errors", "roce_slow_restart_trans"},
     {"rdma_errors", "retrans_pkts"},  // efa
     {"rdma_errors", "retrans_timeout_events"},
     {"congestion_marked", "np_ecn_marked_roce_packets"},
     {"congestion_marked", "np_cnp_sent"},
     {"congestion_slowed", "rp_cnp_handled"}}};

template <std::size_t N>
void add_files(const HostFiles& files, const fs::path& folder,
               const std::array<PortFile, N>& wanted, PortCounters& counters) {
  for (const PortFile& file : wanted) {
    const auto value = files.read_integer(folder / file.name);
    if (value && *value >= 0) {
      counters[file.kind][file.name] = *value;
    }
  }
}

// "4X" of "100 Gb/sec (4X EDR)".
std::optional<double> lanes_of(std::string_view rate) {
  const auto open = rate.find('(');
  const auto x = rate.find('X', open == std::string_view::npos ? rate.size() : open);
  const auto lanes = x == std::string_view::npos
                         ? std::nullopt
                         : parse_integer(rate.substr(open + 1, x - open - 1));
  return lanes && *lanes > 0 ? std::optional(static_cast<double>(*lanes)) : std::nullopt;
}

NetworkPort read_port(const HostFiles& files, const fs::path& folder) {
  NetworkPort port;
  add_files(files, folder / "counters", kCounters, port.counters);
  add_files(files, folder / "hw_counters", kHardwareCounters, port.counters);
  const auto state = files.read_line(folder / "state");  // "4: ACTIVE"
  const auto rate = files.read_line(folder / "rate");
  if (state && leading_number(*state) != 4.0) {
    port.gbit = 0;  // its rate is then that of the slowest link there is
  } else if (rate) {
    port.gbit = leading_number(*rate);
    port.lanes = lanes_of(*rate);
  }
  return port;
}

}  // namespace

NetworkPorts read_infiniband_ports(const HostFiles& files) {
  NetworkPorts result;
  const fs::path folder = "/sys/class/infiniband";
  for (const std::string& device : files.list(folder).value_or(std::vector<std::string>{})) {
    const fs::path ports = folder / device / "ports";
    for (const std::string& port : files.list(ports).value_or(std::vector<std::string>{})) {
      result[device + ":" + port] = read_port(files, ports / port);
    }
  }
  return result;
}

}  // namespace fleetbench
