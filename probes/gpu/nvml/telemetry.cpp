#include "probes/gpu/nvml/telemetry.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "probes/gpu/nvml/clock_event_reasons.hpp"
#include "probes/support/median.hpp"

namespace fleetbench::gpu::nvml {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(20);
// The first and the last reading may be of a device that is idle: where there are others, those
// count.
constexpr std::size_t kEnoughBesides = 3;
constexpr std::size_t kMostXids = 16;

constexpr std::array<std::pair<NvLinkError, const char*>, 4> kNvLinkErrors{
    {{kReplay, "nvlink_replay"},
     {kRecovery, "nvlink_recovery"},
     {kCrcFlit, "nvlink_crc_flit"},
     {kCrcData, "nvlink_crc_data"}}};

std::vector<double> under_load(const std::vector<double>& readings) {
  if (readings.size() < kEnoughBesides + 2) {
    return readings;
  }
  return {readings.begin() + 1, readings.end() - 1};
}

Json summary_of(const std::vector<double>& readings) {
  const auto [least, most] = std::ranges::minmax(readings);
  return {{"min", least}, {"median", median(readings)}, {"max", most}};
}

}  // namespace

Telemetry::Telemetry(const Library& library, Device device)
    : library_(library), device_(device), before_(counters()), activity_(library, device) {
  if (call(library.calls().event_set_create, &events_) == kSuccess &&
      call(library.calls().register_events, device, kEventXid, events_) != kSuccess) {
    call(library.calls().event_set_free, events_);
    events_ = nullptr;
  }
  read();
  watcher_ = std::thread([this] { watch(); });
}

Telemetry::~Telemetry() {
  stop();
  if (events_ != nullptr) {
    call(library_.calls().event_set_free, events_);
  }
}

void Telemetry::add(const char* name, double unit, const Reading& reading) {
  unsigned value = 0;
  if (reading(&value) == kSuccess) {
    readings_[name].push_back(value * unit);
  }
}

void Telemetry::read() {
  const Calls& calls = library_.calls();
  add("sm_clock_hz", 1e6, [&](unsigned* mhz) { return call(calls.clock, device_, kClockSm, mhz); });
  add("memory_clock_hz", 1e6,
      [&](unsigned* mhz) { return call(calls.clock, device_, kClockMemory, mhz); });
  add("temperature_c", 1,
      [&](unsigned* degrees) { return call(calls.temperature, device_, kSensorGpu, degrees); });
  add("power_w", 1e-3, [&](unsigned* mw) { return call(calls.power, device_, mw); });
  add("pcie_generation", 1, [&](unsigned* g) { return call(calls.pcie_generation, device_, g); });
  add("pcie_width", 1, [&](unsigned* lanes) { return call(calls.pcie_width, device_, lanes); });
  add("pcie_tx_bytes_per_s", 1e3,
      [&](unsigned* kb) { return call(calls.pcie_throughput, device_, kTransmit, kb); });
  add("pcie_rx_bytes_per_s", 1e3,
      [&](unsigned* kb) { return call(calls.pcie_throughput, device_, kReceive, kb); });
  unsigned long long bits = 0;
  if (call(calls.clock_event_reasons, device_, &bits) == kSuccess) {
    ++reason_readings_;
    for (const auto& reason : clock_event_reasons(bits)) {
      ++reasons_[reason];
    }
  }
}

void Telemetry::watch() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kInterval, [this] { return over_; })) {
    read();
  }
}

void Telemetry::stop() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_all();
  if (watcher_.joinable()) {
    watcher_.join();
  }
}

Counters Telemetry::counters() const {
  const Calls& calls = library_.calls();
  Counters counters;
  unsigned replays = 0;
  if (call(calls.pcie_replays, device_, &replays) == kSuccess) {
    counters["pcie_replays"] = replays;
  }
  unsigned long long count = 0;
  for (const auto& [kind, name] :
       {std::pair(kCorrected, "ecc_corrected"), std::pair(kUncorrected, "ecc_uncorrected")}) {
    if (call(calls.ecc_errors, device_, kind, kVolatile, &count) == kSuccess) {
      counters[name] = count;
    }
  }
  for (unsigned link = 0; link < kMostNvLinks; ++link) {
    for (const auto& [kind, name] : kNvLinkErrors) {
      if (call(calls.nvlink_errors, device_, link, kind, &count) == kSuccess) {
        counters[name] += count;
      }
    }
  }
  return counters;
}

void Telemetry::add_state(Json& detail) const {
  const Calls& calls = library_.calls();
  unsigned limit_mw = 0;
  if (call(calls.power_limit, device_, &limit_mw) == kSuccess) {
    detail["power_limit_w"] = limit_mw * 1e-3;
  }
  std::array<unsigned, 4> rows{};
  if (call(calls.remapped_rows, device_, rows.data(), rows.data() + 1, rows.data() + 2,
           rows.data() + 3) == kSuccess) {
    detail["remapped_rows"] = {{"correctable", rows[0]},
                               {"uncorrectable", rows[1]},
                               {"pending", rows[2] != 0},
                               {"failed", rows[3] != 0}};
  }
  for (const auto& [kind, name] :
       {std::pair(kCorrected, "corrected"), std::pair(kUncorrected, "uncorrected")}) {
    unsigned long long count = 0;
    if (call(calls.ecc_errors, device_, kind, kVolatile, &count) == kSuccess) {
      detail["ecc"][name] = count;
    }
  }
  std::array<int, 2> links{};  // down, up
  for (unsigned link = 0; link < kMostNvLinks; ++link) {
    int up = 0;
    if (call(calls.nvlink_state, device_, link, &up) == kSuccess) {
      ++links[up != 0 ? 1 : 0];
    }
  }
  if (links[0] + links[1] > 0) {
    detail["nvlinks"] = {{"up", links[1]}, {"down", links[0]}};
  }
}

void Telemetry::add_xids(Json& detail) const {
  EventData event{};
  while (events_ != nullptr && detail["xid"].size() < kMostXids &&
         call(library_.calls().event_wait, events_, &event, 0U) == kSuccess) {
    detail["xid"].push_back(event.data);
  }
  if (detail["xid"].empty()) {
    detail.erase("xid");
  }
}

Summary Telemetry::finish() {
  stop();
  read();
  Summary summary;
  const auto medians = [&](const char* name) -> std::optional<double> {
    const auto found = readings_.find(name);
    return found == readings_.end() ? std::nullopt
                                    : std::optional(median(under_load(found->second)));
  };
  summary.sm_clock_hz = medians("sm_clock_hz");
  summary.memory_clock_hz = medians("memory_clock_hz");
  summary.temperature_c = medians("temperature_c");
  summary.power_w = medians("power_w");
  for (const auto& [name, values] : readings_) {
    summary.detail[name] = summary_of(under_load(values));
  }
  for (const auto& [reason, count] : reasons_) {
    summary.detail["clock_event_reasons"][reason] =
        static_cast<double>(count) / static_cast<double>(reason_readings_);
  }
  for (const auto& [name, count] : counters()) {
    if (before_.contains(name) && count > before_.at(name)) {
      summary.detail["rises"][name] = count - before_.at(name);
    }
  }
  add_state(summary.detail);
  add_xids(summary.detail);
  summary.detail.update(activity_.finish());
  return summary;
}

}  // namespace fleetbench::gpu::nvml
