#include "probes/storage/fio_measurement.hpp"

#include <fmt/format.h>

#include <functional>

#include "probes/support/fact.hpp"
#include "probes/support/median.hpp"

namespace fleetbench {
namespace {

std::optional<double> median_of(
    const std::vector<FioDirection>& repetitions,
    const std::function<std::optional<double>(const FioDirection&)>& figure) {
  std::vector<double> values;
  for (const FioDirection& repetition : repetitions) {
    if (const auto value = figure(repetition)) {
      values.push_back(*value);
    }
  }
  return values.empty() ? std::nullopt : std::optional(median(values));
}

std::optional<double> seconds(std::optional<double> ns) {
  return ns ? std::optional(*ns * 1e-9) : std::nullopt;
}

Json iostat(const DiskRates& rates) {
  return {{"r_per_s", rates.r_per_s},
          {"w_per_s", rates.w_per_s},
          {"r_bytes_per_s", rates.r_bytes_per_s},
          {"w_bytes_per_s", rates.w_bytes_per_s},
          {"r_await_s", fact(rates.r_await_s)},
          {"w_await_s", fact(rates.w_await_s)},
          {"r_request_bytes", fact(rates.r_request_bytes)},
          {"w_request_bytes", fact(rates.w_request_bytes)},
          {"queue", rates.queue},
          {"busy", rates.busy}};
}

}  // namespace

double FioMeasurement::bytes_per_s() const {
  return *median_of(repetitions, [](const auto& one) { return one.bw_bytes_per_s; });
}

double FioMeasurement::operations_per_s() const {
  return *median_of(repetitions, [](const auto& one) { return one.iops; });
}

double FioMeasurement::bytes() const {
  return *median_of(repetitions, [](const auto& one) { return one.io_bytes; });
}

double FioMeasurement::runtime_s() const {
  return *median_of(repetitions, [](const auto& one) { return one.runtime_s; });
}

std::optional<double> FioMeasurement::latency_s() const {
  return seconds(median_of(repetitions, [](const auto& one) { return one.lat_mean_ns; }));
}

std::optional<double> FioMeasurement::clat_s(double percentile) const {
  return seconds(median_of(repetitions, [&](const auto& one) { return one.clat_ns(percentile); }));
}

std::string repetition_name(const std::string& job, int index) {
  return fmt::format("{}.{}", job, index);
}

FioMeasurement measure_with_fio(const Site& site, const std::string& job, int repetitions,
                                const std::string& direction,
                                const std::vector<FioSection>& sections) {
  const auto before = disk_counters_now(site.files, site.volume);
  const FioRun run = run_fio(sections, site.folder, site.fio_limit_s);
  const auto after = disk_counters_now(site.files, site.volume);
  FioMeasurement measurement{.version = run.output.version,
                             .warnings = run.warnings,
                             .fio_wall_s = run.wall_s,
                             .fio_cpu_s = run.cpu_s};
  double runtime_s = 0;
  for (int i = 0; i < repetitions; ++i) {
    measurement.repetitions.push_back(direction_of(run, repetition_name(job, i), direction));
    runtime_s += measurement.repetitions.back().runtime_s;
  }
  if (before && after) {
    measurement.disk = disk_rates(*before, *after, runtime_s);
  }
  return measurement;
}

Json detail_of(const FioMeasurement& measurement, const IoVerdict& limit) {
  Json rates = Json::array();
  Json runtimes = Json::array();
  for (const FioDirection& repetition : measurement.repetitions) {
    rates.push_back(repetition.bw_bytes_per_s);
    runtimes.push_back(repetition.runtime_s);
  }
  Json detail{{"limit", to_string(limit.limit)},
              {"limit_because", limit.why},
              {"bytes_per_s", std::move(rates)},
              {"runtime_s", std::move(runtimes)},
              {"latency_s", fact(measurement.latency_s())},
              {"fio",
               {{"version", measurement.version},
                {"wall_s", measurement.fio_wall_s},
                {"cpu_s", measurement.fio_cpu_s}}}};
  if (measurement.disk) {
    detail["iostat"] = iostat(*measurement.disk);
  }
  if (!measurement.warnings.empty()) {
    detail["fio"]["warnings"] = measurement.warnings;
  }
  return detail;
}

IoVerdict direct_limit(const FioMeasurement& measurement, double block_bytes, double depth) {
  const auto& disk = measurement.disk;
  return io_limit({.block_bytes = block_bytes,
                   .depth = depth,
                   .rate_per_s = measurement.operations_per_s(),
                   .latency_s = measurement.latency_s(),
                   .request_bytes = disk ? disk->r_request_bytes : std::nullopt,
                   .busy = disk ? std::optional(disk->busy) : std::nullopt,
                   .disk_queue = disk ? std::optional(disk->queue) : std::nullopt});
}

std::vector<MetricInfo> disk_metrics(const std::string& job) {
  return {
      storage_metric(job + ".busy", "1", Better::lower, false,
                     "share of the time in which the disk had something to do (%util of iostat)",
                     "a slow figure with an idle disk is slow before the disk: CPU, file system, "
                     "network"),
      storage_metric(job + ".await", "s", Better::lower, false,
                     "mean time from asking the disk to its answer (r_await of iostat)",
                     "`smartctl -a`, `nvme smart-log`, other users of the disk (`iotop`)")};
}

Values disk_values(const FioMeasurement& measurement) {
  const auto& disk = measurement.disk;
  return {disk ? std::optional(disk->busy) : std::nullopt, disk ? disk->r_await_s : std::nullopt};
}

MetricInfo storage_metric(std::string name, std::string unit, Better better, bool judged,
                          std::string description, std::string next_check) {
  return {.name = std::move(name),
          .unit = std::move(unit),
          .better = better,
          .layer = Layer::storage,
          .subject = SubjectKind::node,
          .judged = judged,
          .description = std::move(description),
          .next_check = std::move(next_check)};
}

}  // namespace fleetbench
