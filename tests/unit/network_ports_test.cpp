#include "probes/support/network_ports.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/unit/machine.hpp"

namespace fleetbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kHead =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop "
    "fifo colls carrier compressed\n";
const std::string kLoopback = "    lo: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n";

std::string interface_line(const std::string& name) {
  return name + ": 100 10 1 2 3 4 0 0 200 20 5 6 0 0 7 0\n";
}

Machine& with_hardware(Machine& machine, const std::string& name) {
  machine.write("/sys/class/net/" + name + "/device/vendor", "0x15b3");
  return machine;
}

NetworkPorts read(const Machine& machine, const DriverCounterReader& of_driver = {}) {
  return read_network_ports(machine.files(), of_driver);
}

TEST(NetworkPorts, OfAMachineWithoutAnyAreNone) { EXPECT_THAT(read(Machine()), IsEmpty()); }

TEST(NetworkPorts, CountAsLinuxDoes) {
  const Machine machine;
  machine.write("/proc/net/dev", kHead + kLoopback + interface_line("  eth0"));
  const auto ports = read(machine);
  ASSERT_THAT(ports, ElementsAre(Key("eth0")));
  const PortCounters expected{
      {"bytes", {{"rx_bytes", 100}, {"tx_bytes", 200}}},
      {"packets_received", {{"rx_packets", 10}}},
      {"packets_sent", {{"tx_packets", 20}}},
      {"nic_errors", {{"rx_errors", 1}, {"tx_errors", 5}, {"tx_carrier", 7}}},
      {"nic_drops", {{"rx_drops", 2}, {"rx_fifo", 3}, {"tx_drops", 6}}}};
  EXPECT_EQ(ports.at("eth0").counters, expected);
  EXPECT_FALSE(ports.at("eth0").hardware);
  EXPECT_FALSE(ports.at("eth0").gbit);
}

TEST(NetworkPorts, WithHardwareTellTheirLinkAndWhatTheWireDamaged) {
  Machine machine;
  machine.write("/proc/net/dev", interface_line("eth0"));
  with_hardware(machine, "eth0");
  machine.write("/sys/class/net/eth0/carrier", "1\n");
  machine.write("/sys/class/net/eth0/speed", "200000\n");
  machine.write("/sys/class/net/eth0/carrier_down_count", "2\n");
  machine.write("/sys/class/net/eth0/statistics/rx_crc_errors", "11\n");
  const auto port = read(machine).at("eth0");
  EXPECT_TRUE(port.hardware);
  EXPECT_EQ(port.gbit, 200);
  EXPECT_EQ(port.counters.at("link_losses").at("carrier"), 2);
  EXPECT_EQ(port.counters.at("nic_port_errors").at("rx_crc_errors"), 11);
}

TEST(NetworkPorts, SayWhichLinkIsDownAndWhichIsNotInUse) {
  struct Case {
    const char* carrier;
    const char* speed;
    std::optional<double> gbit;
  };
  for (const Case& c : {Case{"0", "", 0.0}, Case{"0", "100000", 0.0}, Case{"1", "-1", {}},
                        Case{"1", "x", {}}, Case{"", "100000", {}}, Case{"1", "2500", 2.5}}) {
    Machine machine;
    machine.write("/proc/net/dev", interface_line("eth0"));
    with_hardware(machine, "eth0");
    machine.write("/sys/class/net/eth0/carrier", c.carrier);
    machine.write("/sys/class/net/eth0/speed", c.speed);
    EXPECT_EQ(read(machine).at("eth0").gbit, c.gbit) << c.carrier << " " << c.speed;
  }
}

TEST(NetworkPorts, TakeWhatDriversCountOfPortsWithALink) {
  Machine machine;
  machine.write("/proc/net/dev",
                interface_line("eth0") + interface_line("eth1") + interface_line("veth0"));
  with_hardware(machine, "eth0").write("/sys/class/net/eth0/carrier", "1");
  with_hardware(machine, "eth1").write("/sys/class/net/eth1/carrier", "0");
  std::vector<std::string> asked;
  const auto ports = read(machine, [&](const std::string& interface) {
    asked.push_back(interface);
    return std::vector<DriverCounter>{{"rx_packets_phy", 1000},
                                      {"tx_packets_phy", ~std::uint64_t{0}},
                                      {"rx_prio3_pause", 3},
                                      {"rx_crc_errors_phy", 4},
                                      {"rx0_packets", 5}};
  });
  EXPECT_THAT(asked, ElementsAre("eth0"));
  const auto& counters = ports.at("eth0").counters;
  EXPECT_THAT(counters.at("packets_received"), ElementsAre(Pair("rx_packets_phy", 1000)));
  EXPECT_THAT(counters.at("packets_sent"), ElementsAre(Pair("tx_packets", 20)));  // rubbish is none
  EXPECT_THAT(counters.at("pause_received"), ElementsAre(Pair("rx_prio3_pause", 3)));
  EXPECT_THAT(counters.at("nic_port_errors"), ElementsAre(Pair("rx_crc_errors_phy", 4)));
}

TEST(NetworkPorts, HaveNamesOfAnyForm) {
  const Machine machine;
  machine.write("/proc/net/dev", kHead + interface_line("eth0:1") + interface_line("a|b") +
                                     interface_line("x\xff\x1b[31m") + interface_line("") +
                                     "eth9: 1 2 3\nno colon\n");
  EXPECT_THAT(read(machine), ElementsAre(Key("eth0:1"), Key("x\xff\x1b[31m")));
}

TEST(NetworkPorts, OfInfinibandTellCountersRateAndLanes) {
  Machine machine;
  const std::string port = "/sys/class/infiniband/mlx5_0/ports/1/";
  machine.write(port + "state", "4: ACTIVE\n");
  machine.write(port + "rate", "100 Gb/sec (4X EDR)\n");
  machine.write(port + "counters/symbol_error", "65535\n");  // it stops there
  machine.write(port + "counters/port_xmit_wait", "18446744073709551615\n");
  machine.write(port + "counters/port_xmit_data", "9223372036854775807\n");
  machine.write(port + "counters/VL15_dropped", "-1\n");
  machine.write(port + "hw_counters/out_of_sequence", "12\n");
  machine.write(port + "hw_counters/np_cnp_sent", "N/A\n");
  machine.write(port + "hw_counters/lifespan", "10\n");
  const auto ports = read(machine);
  ASSERT_THAT(ports, ElementsAre(Key("mlx5_0:1")));
  const NetworkPort& found = ports.at("mlx5_0:1");
  EXPECT_EQ(found.gbit, 100);
  EXPECT_EQ(found.lanes, 4);
  const PortCounters expected{{"ib_errors", {{"symbol_error", 65535}}},
                              {"rdma_errors", {{"out_of_sequence", 12}}},
                              {"words_sent", {{"port_xmit_data", 9223372036854775807}}}};
  EXPECT_EQ(found.counters, expected);
}

TEST(NetworkPorts, OfInfinibandMayBeDownOrTellLittle) {
  struct Case {
    const char* state;
    const char* rate;
    std::optional<double> gbit;
    std::optional<double> lanes;
  };
  for (const Case& c :
       {Case{"1: DOWN", "10 Gb/sec (4X SDR)", 0.0, {}},
        Case{"2: INIT", "100 Gb/sec (4X EDR)", 0.0, {}},
        Case{"4: ACTIVE", "25 Gb/sec (1X EDR)", 25.0, 1.0},
        Case{"4: ACTIVE", "2.5 Gb/sec", 2.5, {}}, Case{"4: ACTIVE", "fast (X)", {}, {}},
        Case{"4: ACTIVE", "", {}, {}}, Case{"", "400 Gb/sec (4X NDR)", 400.0, 4.0}}) {
    const Machine machine;
    machine.write("/sys/class/infiniband/mlx5_0/ports/1/state", c.state);
    machine.write("/sys/class/infiniband/mlx5_0/ports/1/rate", c.rate);
    const auto port = read(machine).at("mlx5_0:1");
    EXPECT_EQ(port.gbit, c.gbit) << c.state << " " << c.rate;
    EXPECT_EQ(port.lanes, c.lanes) << c.state << " " << c.rate;
  }
}

TEST(DriverCounters, AreKnownByTheirNames) {
  const std::vector<std::pair<const char*, const char*>> known{
      {"rx_pause_ctrl_phy", "pause_received"},  // mlx5
      {"tx_prio3_pause", "pause_sent"},
      {"rx_discards_phy", "nic_port_drops"},
      {"rx_out_of_buffer", "nic_port_drops"},
      {"rx_pcs_symbol_err_phy", "nic_port_errors"},
      {"rx_packets_phy", "packets_received"},
      {"tx_packets_phy", "packets_sent"},
      {"rx_pfc_ena_frames_pri3", "pause_received"},  // bnxt
      {"rx_fec_uncorrectable_blocks", "nic_port_errors"},
      {"link_xoff_tx.nic", "pause_sent"},  // ice
      {"tx_priority_3_xoff.nic", "pause_sent"},
      {"rx_no_dma_resources", "nic_port_drops"},       // ixgbe
      {"bw_in_allowance_exceeded", "nic_port_drops"},  // ena
      {"rx_drops", "nic_port_drops"}};                 // virtio
  for (const auto& [name, kind] : known) {
    EXPECT_EQ(kind_of_driver_counter(name), kind) << name;
  }
  for (const char* name :
       {"rx0_xdp_drop", "tx-3.tx_bytes", "rx_queue_0_drops", "ch12_poll", "[0]: rx_discards",
        "rx_prio3_pause_duration", "rx_prio3_pause_transition", "link_xon_rx.nic",
        "rx_global_pause", "tx_pause_storm_warning_events", "rx_steer_missed_packets",
        "rx_corrected_bits_phy", "rx_fec_corrected_blocks", "rx_xdp_drop", "rx_bytes", ""}) {
    EXPECT_FALSE(kind_of_driver_counter(name)) << name;
  }
}

TEST(DriverCounters, OfWhatIsNotThereAreNone) {
  EXPECT_THAT(read_driver_counters("nosuch0"), IsEmpty());
  EXPECT_THAT(read_driver_counters("a-name-that-is-too-long-for-linux"), IsEmpty());
  EXPECT_THAT(read_driver_counters("lo"), IsEmpty());
}

}  // namespace
}  // namespace fleetbench
