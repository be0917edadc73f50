// What explains the figure of a slot: how the machine was while it was measured.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "probes/support/evidence_counters.hpp"
#include "probes/support/host_files.hpp"
#include "probes/support/network_ports.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench {

// Times that the kernel adds up since boot.
struct MachineTimes {
  std::map<std::string, double> cpu;       // "user", "system", "idle", "iowait", "steal": ticks
  std::map<std::string, double> pressure;  // "cpu_some", "io_full" …: seconds (PSI)
};

MachineTimes read_times(const HostFiles& files);

// Of the workers of a node one reads it for all: ports may take long to tell what they counted.
enum class Network { read, left_out };

// Watches from its construction to finish(), which gives
//   {"cpu": {"user": share of all CPU time, "system", "idle", "iowait", "steal"},
//    "pressure": {"cpu_some": share of the wall time, "io_some", "io_full", "memory_some", …},
//    "cpu_hz": {"min", "median", "max"}, "temperature_c": {"min", "median", "max"},
//    "rises": {"tcp_retransmits": 12, "nic_errors": 0, …},
//    "rates": {"pause_received": 0.002, …}: of the port that has most, see network_changes.hpp,
//    "where": {"nic_errors": {"eth0 rx_errors": 3}, "pause_received": {"eth0": 0.002}},
//    "link_gbit": {"eth0": 100, "mlx5_0:1": 400}, "link_lanes": {"mlx5_0:1": 4}, "gone": ["eth1"]}
// What this machine does not tell is left out; "where" holds what rose for kinds that have places,
// "gone" devices that were there at first. Clocks and temperatures are read every 100 ms by a
// thread of its own while the measurement runs, on at most 16 CPUs: an idle CPU has another clock.
// A read may hang where the kernel does, as in HostFiles.
class SlotEvidence {
 public:
  explicit SlotEvidence(Network network = Network::read)
      : SlotEvidence(HostFiles(), network, read_driver_counters) {}
  explicit SlotEvidence(HostFiles files, Network network = Network::read,
                        DriverCounterReader of_driver = {});
  ~SlotEvidence();
  SlotEvidence(const SlotEvidence&) = delete;
  SlotEvidence& operator=(const SlotEvidence&) = delete;

  Json finish();

 private:
  void sample();
  void watch();
  void stop();

  NetworkPorts read_network() const;

  HostFiles files_;
  Network network_;
  DriverCounterReader of_driver_;
  std::vector<std::filesystem::path> clock_files_;
  std::vector<std::filesystem::path> temperature_files_;
  std::vector<double> clocks_hz_;
  std::vector<double> temperatures_c_;
  Counters counters_;
  NetworkPorts ports_;
  MachineTimes times_;
  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread watcher_;
};

}  // namespace fleetbench
