#include "probes/support/slot_evidence.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/unit/machine.hpp"

namespace fleetbench {
namespace {

using testing::ElementsAre;

void write_counters(const Machine& machine, int risen) {
  const auto number = [&](int base) { return std::to_string(base + risen); };
  machine.write("/proc/stat", "cpu  100 0 50 " + number(1000) + " 10 0 0 " + number(5) +
                                  " 0 0\ncpu0 1\nctxt " + number(7000) + "\n");
  machine.write("/proc/net/snmp",
                "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm MaxConn RetransSegs InErrs\nTcp: 1 -1 " +
                    number(40) + " 0\n");
  machine.write("/proc/net/netstat",
                "TcpExt: TCPTimeouts Other TCPLostRetransmit\nTcpExt: " + number(8) + " 1 " +
                    number(0) + "\nIpExt: InOctets\nIpExt: 5\n");
  machine.write("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", number(0));
  machine.write("/sys/devices/system/cpu/cpufreq/boost", "1");
  machine.write("/sys/block/sda/device/ioerr_cnt", risen > 9 ? "0x1a" : "0x1");
  machine.write("/sys/fs/ext4/sda1/errors_count", "0");
  machine.write("/sys/bus/pci/devices/0000:17:00.0/aer_dev_correctable",
                "RxErr " + number(0) + "\nBadTLP 0\nTOTAL_ERR_COR " + number(0) + "\n");
  machine.write("/proc/pressure/cpu",
                "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + number(27053138) + "\n");
}

TEST(EvidenceCounters, SayWhatRoseAndWhere) {
  const Machine machine;
  write_counters(machine, 0);
  const Counters before = read_counters(machine.files());
  write_counters(machine, 25);
  const Counters risen = rises(before, read_counters(machine.files()));
  const Counters expected{
      {"context_switches", {{"", 25}}},
      {"tcp_lost_retransmits", {{"", 25}}},
      {"tcp_retransmits", {{"", 25}}},
      {"tcp_timeouts", {{"", 25}}},
      {"thermal_throttles", {{"cpu0 core", 25}}},
      {"disk_errors", {{"sda", 25}}},
      {"pcie_correctable", {{"0000:17:00.0", 25}}},
  };
  EXPECT_EQ(risen, expected);
}

TEST(EvidenceCounters, WhatAMachineDoesNotCountIsNotThere) {
  const Machine machine;
  EXPECT_TRUE(read_counters(machine.files()).empty());
}

TEST(EvidenceCounters, RubbishIsNoCount) {
  const Machine machine;
  machine.write("/proc/stat", "ctxt many\n");
  machine.write("/proc/net/netstat", "TcpExt: TCPTimeouts TCPLostRetransmit\nTcpExt: x\n");
  machine.write("/proc/net/snmp", "Tcp: RetransSegs\n");
  machine.write("/sys/block/sda/device/ioerr_cnt", "0xzz");
  machine.write("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "-1");
  machine.write("/sys/bus/pci/devices/0000:17:00.0/aer_dev_fatal", "TOTAL_ERR_FATAL\n");
  EXPECT_TRUE(read_counters(machine.files()).empty());
}

TEST(EvidenceCounters, NameDevicesThatFellOff) {
  const Counters before{{"disk_errors", {{"sda", 1}, {"sdb", 1}}},
                        {"pcie_fatal", {{"0000:17:00.0", 1}}},
                        {"context_switches", {{"", 5}}}};
  const Counters after{{"disk_errors", {{"sda", 1}}}, {"pcie_fatal", {{"0000:17:00.0", 1}}}};
  EXPECT_THAT(gone_devices(before, after), ElementsAre("sdb"));
}

TEST(SlotEvidence, SharesAreOfTheTimeThatPassed) {
  const Machine machine;
  machine.write("/proc/stat", "cpu  100 10 50 1000 10 1 2 5 0 0\n");
  SlotEvidence evidence(machine.files());
  machine.write("/proc/stat", "cpu  110 20 60 1040 20 6 7 15 0 0\n");
  const Json cpu = evidence.finish().at("cpu");
  EXPECT_EQ(cpu,
            Json({{"user", 0.2}, {"system", 0.2}, {"idle", 0.4}, {"iowait", 0.1}, {"steal", 0.1}}));
}

TEST(SlotEvidence, TellsClocksAndTemperaturesUnderLoad) {
  const Machine machine;
  for (const char* cpu : {"0", "1", "2"}) {
    const auto folder = std::string("/sys/devices/system/cpu/cpu") + cpu;
    machine.write(folder + "/cpufreq/scaling_cur_freq", std::string(cpu) + "000000");
  }
  machine.write("/sys/class/thermal/thermal_zone0/temp", "71500");
  SlotEvidence evidence(machine.files());
  const Json found = evidence.finish();
  EXPECT_EQ(found.at("cpu_hz"), Json({{"min", 0.0}, {"median", 1e9}, {"max", 2e9}}));
  EXPECT_EQ(found.at("temperature_c").at("max"), 71.5);
}

const char* kNetDev = "  eth0: {} 10 {} 2 0 0 0 0 200 20 0 0 0 0 1 0\n";

std::string net_dev(int bytes, int errors) {
  std::string text = kNetDev;
  text.replace(text.find("{}"), 2, std::to_string(bytes));
  return text.replace(text.find("{}"), 2, std::to_string(errors));
}

TEST(SlotEvidence, TellsWhatTheNetworkDid) {
  const Machine machine;
  machine.write("/proc/net/dev", net_dev(100, 1));
  machine.write("/sys/class/net/eth0/device/vendor", "0x15b3");
  machine.write("/sys/class/net/eth0/carrier", "1");
  machine.write("/sys/class/net/eth0/speed", "100000");
  std::uint64_t pauses = 5;
  const auto of_driver = [&](const std::string& interface) {
    EXPECT_EQ(interface, "eth0");
    return std::vector<DriverCounter>{{"rx_prio3_pause", pauses},
                                      {"tx_packets_phy", pauses * 3000}};
  };
  SlotEvidence evidence(machine.files(), Network::read, of_driver);
  machine.write("/proc/net/dev", net_dev(5000, 4));
  pauses = 7;
  const Json found = evidence.finish();
  EXPECT_EQ(found.at("rises").at("nic_errors"), 3);
  EXPECT_EQ(found.at("rises").at("nic_drops"), 0);
  EXPECT_EQ(found.at("rates"), Json({{"pause_received", 0.000333}}));
  EXPECT_EQ(found.at("where"), Json({{"nic_errors", {{"eth0 rx_errors", 3}}},
                                     {"pause_received", {{"eth0", 0.000333}}}}));
  EXPECT_EQ(found.at("link_gbit"), Json({{"eth0", 100.0}}));
  EXPECT_FALSE(found.contains("gone"));
}

TEST(SlotEvidence, LeavesTheNetworkToAnother) {
  const Machine machine;
  machine.write("/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "1");
  EXPECT_TRUE(SlotEvidence(machine.files()).finish().contains("rises"));
  EXPECT_EQ(SlotEvidence(machine.files(), Network::left_out).finish(), Json::object());
}

TEST(SlotEvidence, SaysNothingOfWhatCannotBeRead) {
  const Machine machine;
  SlotEvidence evidence(machine.files());
  EXPECT_EQ(evidence.finish(), Json::object());
}

TEST(SlotEvidence, OfThisMachineHasItsContextSwitchesAndCpuTime) {
  SlotEvidence evidence;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // several ticks
  const Json found = evidence.finish();
  EXPECT_GE(found.at("rises").at("context_switches"), 0);
  EXPECT_TRUE(found.contains("cpu"));
}

}  // namespace
}  // namespace fleetbench
