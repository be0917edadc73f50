#include "probes/support/network_changes.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace fleetbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

NetworkPort port_of(PortCounters counters, bool hardware = true) {
  return {.hardware = hardware, .gbit = {}, .lanes = {}, .counters = std::move(counters)};
}

NetworkPort carrying(std::int64_t bytes, std::int64_t drops) {
  return port_of({{"bytes", {{"rx_bytes", bytes}}}, {"nic_drops", {{"rx_drops", drops}}}}, false);
}

TEST(NetworkChanges, AreWhatRoseAndWhere) {
  const NetworkPorts before{{"eth0", port_of({{"nic_errors", {{"rx", 1}, {"tx", 5}}},
                                              {"nic_drops", {{"rx", 3}}},
                                              {"packets_sent", {{"tx", 1}}}})}};
  const NetworkPorts after{{"eth0", port_of({{"nic_errors", {{"rx", 4}, {"tx", 5}, {"new", 9}}},
                                             {"nic_drops", {{"rx", 3}}},
                                             {"ib_errors", {{"symbol_error", 7}}},
                                             {"packets_sent", {{"tx", 9000}}}})}};
  const Counters expected{{"nic_errors", {{"eth0 rx", 3}}}, {"nic_drops", {}}};
  EXPECT_EQ(changes_between(before, after).rises, expected);
}

TEST(NetworkChanges, OfACounterThatFellOrOfRubbishAreNone) {
  const auto with = [](std::int64_t waits, std::int64_t words) {
    return NetworkPorts{{"mlx5_0:1", port_of({{"ib_errors", {{"symbol_error", waits}}},
                                              {"port_xmit_wait", {{"port_xmit_wait", waits}}},
                                              {"words_sent", {{"port_xmit_data", words}}}})}};
  };
  for (const auto& [before, after] : {std::pair(with(4294967295, 10), with(3, 9000)),
                                      std::pair(with(0, 10), with(kMost, 9000))}) {
    const auto changes = changes_between(before, after);
    EXPECT_EQ(changes.rises, (Counters{{"ib_errors", {}}}));
    EXPECT_THAT(changes.rates, IsEmpty());
  }
  EXPECT_THAT(changes_between(with(3, kMost), with(9, 5)).rates, IsEmpty());
  EXPECT_EQ(changes_between(with(3, kMost - 4000), with(9, kMost)).rates.at("port_xmit_wait"),
            (std::map<std::string, double>{{"mlx5_0:1", 6.0 / 4000}}));
}

TEST(NetworkChanges, AreRatesOfWhatWasCarried) {
  const auto with = [](std::int64_t pauses, std::int64_t packets) {
    return NetworkPorts{
        {"eth0", port_of({{"pause_received", {{"prio3", pauses}, {"prio4", pauses}}},
                          {"pause_sent", {{"prio3", pauses}}},
                          {"congestion_slowed", {{"rp_cnp_handled", pauses}}},
                          {"packets_sent", {{"tx", packets}}},
                          {"packets_received", {{"rx", packets / 2}}}})}};
  };
  const auto rates = changes_between(with(0, 0), with(40, 4000)).rates;
  EXPECT_DOUBLE_EQ(rates.at("pause_received").at("eth0"), 0.02);
  EXPECT_DOUBLE_EQ(rates.at("pause_sent").at("eth0"), 0.02);
  EXPECT_DOUBLE_EQ(rates.at("congestion_slowed").at("eth0"), 0.01);
  EXPECT_THAT(changes_between(with(0, 0), with(40, 999)).rates, IsEmpty());
  // A longer measurement of the same has the same rates.
  EXPECT_EQ(changes_between(with(0, 0), with(4000, 400000)).rates, rates);
}

// A host of containers has hundreds of interfaces without hardware, of which the measurement went
// over one at most.
TEST(NetworkChanges, WithoutHardwareCountWhereTheTrafficWas) {
  NetworkPorts before{
      {"idle", carrying(0, 0)}, {"busy", carrying(0, 0)}, {"still", carrying(5, 0)}};
  NetworkPorts after{
      {"idle", carrying(90'000, 7)}, {"busy", carrying(1'000'000, 3)}, {"still", carrying(5, 2)}};
  EXPECT_EQ(changes_between(before, after).rises,
            (Counters{{"nic_drops", {{"busy rx_drops", 3}}}}));
  EXPECT_THAT(changes_between(before, before).rises, IsEmpty());
  // What went over hardware is none of theirs; hardware counts, whatever it carried.
  before["eth0"] = carrying(0, 0);
  after["eth0"] = carrying(100'000'000, 0);
  before["eth0"].hardware = after["eth0"].hardware = true;
  before["eth1"] = after["eth1"] = before["eth0"];
  after["eth1"].counters["nic_drops"]["rx_drops"] = 1;
  EXPECT_EQ(changes_between(before, after).rises,
            (Counters{{"nic_drops", {{"eth1 rx_drops", 1}}}}));
}

TEST(NetworkChanges, TellTheWorstStateOfALink) {
  NetworkPorts before{
      {"eth0", port_of({})}, {"mlx5_0:1", port_of({})}, {"veth0", port_of({}, false)}};
  before["eth0"].gbit = 100;
  before["mlx5_0:1"].gbit = 400;
  before["mlx5_0:1"].lanes = 4;
  before["veth0"].gbit = 10;
  NetworkPorts after = before;
  after["eth0"].gbit = 0;
  after["mlx5_0:1"].lanes = 1;
  const auto changes = changes_between(before, after);
  EXPECT_THAT(changes.gbit, ElementsAre(Pair("eth0", 0), Pair("mlx5_0:1", 400)));
  EXPECT_THAT(changes.lanes, ElementsAre(Pair("mlx5_0:1", 1)));
}

TEST(NetworkChanges, NameHardwareThatFellOff) {
  const NetworkPorts before{
      {"eth0", port_of({})}, {"mlx5_0:1", port_of({})}, {"veth7", port_of({}, false)}};
  const NetworkPorts after{{"eth0", port_of({})}, {"veth8", port_of({}, false)}};
  EXPECT_THAT(changes_between(before, after).gone, ElementsAre("mlx5_0:1"));
}

}  // namespace
}  // namespace fleetbench
