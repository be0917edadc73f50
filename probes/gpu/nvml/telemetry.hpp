// What a GPU did while something was measured on it, read from NVML by a thread of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "probes/gpu/nvml/gpm.hpp"
#include "probes/gpu/nvml/nvml_library.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench::gpu::nvml {

// What the readings come to; absent what the driver does not tell.
struct Summary {
  std::optional<double> sm_clock_hz;  // medians
  std::optional<double> memory_clock_hz;
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  Json detail;
};

// Counters that only grow: "ecc_corrected", "ecc_uncorrected", "pcie_replays", "nvlink_crc_flit"…
using Counters = std::map<std::string, unsigned long long>;

// Watches from its construction to finish(). Its detail is
//   {"sm_clock_hz": {"min", "median", "max"}, "memory_clock_hz", "temperature_c", "power_w",
//    "pcie_generation": {…}, "pcie_width": {…}, "pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s",
//    "power_limit_w": 700, "clock_event_reasons": {"sw_power_cap": share of the readings},
//    "rises": {"ecc_corrected": 2}, "ecc": {"corrected", "uncorrected"} since the driver was
//    loaded, "remapped_rows": {"correctable", "uncorrectable", "pending", "failed"},
//    "nvlinks": {"up": 18, "down": 0}, "xid": [79], "sm_active", "sm_occupancy"}
// Readings are taken every 20 ms and more (for the traffic on PCIe NVML counts 20 ms by itself),
// two at least. NVML's utilisation is not among them: it says whether anything ran, not how much of
// the chip did, which "sm_active" tells where the chip counts it (gpm.hpp).
class Telemetry {
 public:
  Telemetry(const Library& library, Device device);
  ~Telemetry();
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

  Summary finish();

 private:
  using Reading = std::function<Return(unsigned* value)>;

  void add(const char* name, double unit, const Reading& reading);
  void read();
  void watch();
  void stop();
  Counters counters() const;
  void add_state(Json& detail) const;
  void add_xids(Json& detail) const;

  const Library& library_;
  Device device_;
  std::map<std::string, std::vector<double>> readings_;
  std::map<std::string, int> reasons_;
  int reason_readings_ = 0;
  Counters before_;
  SmActivity activity_;
  EventSet events_ = nullptr;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread watcher_;
};

}  // namespace fleetbench::gpu::nvml
