#include "probes/support/slot_evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "probes/support/median.hpp"
#include "probes/support/network_changes.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kSamplePeriod{100};
constexpr std::size_t kMostCpus = 16;
constexpr double kShareSteps = 1e4;  // more digits are noise, and every sample carries them

bool is_numbered(const std::string& name, std::string_view prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

// The files `file` of the folders `prefix`NUMBER in `folder` that can be read, at most kMostCpus of
// them, spread evenly: neighbours share a package.
std::vector<fs::path> spread_files(const HostFiles& files, const fs::path& folder,
                                   std::string_view prefix, const fs::path& file) {
  std::vector<fs::path> all;
  for (const std::string& name : files.list(folder).value_or(std::vector<std::string>{})) {
    if (is_numbered(name, prefix) && files.read_integer(folder / name / file)) {
      all.push_back(folder / name / file);
    }
  }
  std::vector<fs::path> chosen;
  const std::size_t count = std::min(all.size(), kMostCpus);
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back(all[i * all.size() / count]);
  }
  return chosen;
}

void add_pressure(const HostFiles& files, const std::string& what, MachineTimes& times) {
  const std::string text = files.read_text("/proc/pressure/" + what).value_or("");
  for (const auto line : split(text, '\n')) {
    const auto fields = words(line);  // "some avg10=0.00 avg60=0.00 avg300=0.00 total=27053138"
    if (fields.size() != 5 || !fields[4].starts_with("total=")) {
      continue;
    }
    if (const auto total_us = parse_integer(fields[4].substr(6))) {
      times.pressure[what + "_" + std::string(fields[0])] = static_cast<double>(*total_us) * 1e-6;
    }
  }
}

// Each entry's share of `whole`; empty where nothing passed.
Json shares(const std::map<std::string, double>& before, const std::map<std::string, double>& after,
            double whole) {
  Json result = Json::object();
  for (const auto& [name, value] : after) {
    const auto old = before.find(name);
    if (old != before.end() && whole > 0) {
      const double share = std::clamp((value - old->second) / whole, 0.0, 1.0);
      result[name] = std::round(share * kShareSteps) / kShareSteps;
    }
  }
  return result;
}

// Three digits: more are noise.
double rounded(double value) {
  if (value <= 0) {
    return 0;
  }
  const double steps = std::pow(10, 2 - std::floor(std::log10(value)));
  return std::round(value * steps) / steps;
}

double sum(const std::map<std::string, double>& values) {
  double total = 0;
  for (const auto& [name, value] : values) {
    total += value;
  }
  return total;
}

void put(Json& json, const char* name, Json value) {
  if (!value.empty()) {
    json[name] = std::move(value);
  }
}

Json summary(const std::vector<double>& values) {
  if (values.empty()) {
    return Json();
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {{"min", *least}, {"median", median(values)}, {"max", *most}};
}

void put_rises(const Counters& rises,
               const std::map<std::string, std::map<std::string, double>>& rates, Json& evidence) {
  Json totals = Json::object();
  Json worst = Json::object();
  Json where = Json::object();
  for (const auto& [kind, places] : rises) {
    std::int64_t total = 0;
    for (const auto& [place, value] : places) {
      total += value;
      if (!place.empty()) {
        where[kind][place] = value;
      }
    }
    totals[kind] = total;
  }
  for (const auto& [kind, ports] : rates) {
    double most = 0;
    for (const auto& [port, rate] : ports) {
      most = std::max(most, rate);
      if (rate > 0) {
        where[kind][port] = rounded(rate);
      }
    }
    worst[kind] = rounded(most);
  }
  put(evidence, "rises", std::move(totals));
  put(evidence, "rates", std::move(worst));
  put(evidence, "where", std::move(where));
}

}  // namespace

MachineTimes read_times(const HostFiles& files) {
  MachineTimes times;
  // "cpu  user nice system idle iowait irq softirq steal guest guest_nice"; guest is part of user.
  static constexpr std::array<const char*, 8> kNames = {"user",   "user",   "system", "idle",
                                                        "iowait", "system", "system", "steal"};
  const std::string stat = files.read_text("/proc/stat").value_or("");
  const auto fields = words(std::string_view(stat).substr(0, stat.find('\n')));
  if (!fields.empty() && fields[0] == "cpu") {
    for (std::size_t i = 0; i < kNames.size() && i + 1 < fields.size(); ++i) {
      times.cpu[kNames[i]] += static_cast<double>(parse_integer(fields[i + 1]).value_or(0));
    }
  }
  for (const char* what : {"cpu", "io", "memory"}) {
    add_pressure(files, what, times);
  }
  return times;
}

SlotEvidence::SlotEvidence(HostFiles files, Network network, DriverCounterReader of_driver)
    : files_(std::move(files)),
      network_(network),
      of_driver_(std::move(of_driver)),
      clock_files_(
          spread_files(files_, "/sys/devices/system/cpu", "cpu", "cpufreq/scaling_cur_freq")),
      temperature_files_(spread_files(files_, "/sys/class/thermal", "thermal_zone", "temp")),
      counters_(read_counters(files_)),
      ports_(read_network()),
      times_(read_times(files_)),
      start_(std::chrono::steady_clock::now()) {
  if (!clock_files_.empty() || !temperature_files_.empty()) {
    watcher_ = std::thread([this] { watch(); });
  }
}

SlotEvidence::~SlotEvidence() { stop(); }

NetworkPorts SlotEvidence::read_network() const {
  return network_ == Network::read ? read_network_ports(files_, of_driver_) : NetworkPorts();
}

void SlotEvidence::sample() {
  for (const fs::path& file : clock_files_) {
    if (const auto khz = files_.read_integer(file)) {
      clocks_hz_.push_back(static_cast<double>(*khz) * 1e3);
    }
  }
  for (const fs::path& file : temperature_files_) {
    if (const auto millidegrees = files_.read_integer(file)) {
      temperatures_c_.push_back(static_cast<double>(*millidegrees) * 1e-3);
    }
  }
}

void SlotEvidence::watch() {
  std::unique_lock lock(mutex_);
  // The first clock that is read is that of a machine at work.
  while (!ended_.wait_for(lock, kSamplePeriod, [this] { return over_; })) {
    sample();
  }
}

void SlotEvidence::stop() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_all();
  if (watcher_.joinable()) {
    watcher_.join();
  }
}

Json SlotEvidence::finish() {
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start_;
  const MachineTimes times = read_times(files_);
  stop();
  if (clocks_hz_.empty() && temperatures_c_.empty()) {
    sample();  // a slot shorter than the period
  }
  const NetworkChanges network = changes_between(ports_, read_network());
  const Counters counters = read_counters(files_);
  Json evidence = Json::object();
  put(evidence, "cpu", shares(times_.cpu, times.cpu, sum(times.cpu) - sum(times_.cpu)));
  put(evidence, "pressure", shares(times_.pressure, times.pressure, wall.count()));
  put(evidence, "cpu_hz", summary(clocks_hz_));
  put(evidence, "temperature_c", summary(temperatures_c_));
  Counters risen = rises(counters_, counters);
  risen.insert(network.rises.begin(), network.rises.end());
  put_rises(risen, network.rates, evidence);
  put(evidence, "link_gbit", network.gbit);
  put(evidence, "link_lanes", network.lanes);
  std::vector<std::string> gone = gone_devices(counters_, counters);
  gone.insert(gone.end(), network.gone.begin(), network.gone.end());
  put(evidence, "gone", std::move(gone));
  return evidence;
}

}  // namespace fleetbench
