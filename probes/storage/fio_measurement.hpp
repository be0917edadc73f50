// What the profiles that fio measures have in common.
#pragma once

#include "probes/fio/fio_run.hpp"
#include "probes/storage/limit.hpp"
#include "probes/storage/profile.hpp"

namespace fleetbench {

// Repetitions of one job in one run of fio, and the disk meanwhile.
struct FioMeasurement {
  std::vector<FioDirection> repetitions;
  // Over the seconds in which fio's jobs ran, without its start and end.
  std::optional<DiskRates> disk;
  std::string version;
  std::string warnings;
  double fio_wall_s = 0;
  double fio_cpu_s = 0;

  // Medians over the repetitions.
  double bytes_per_s() const;
  double operations_per_s() const;
  double bytes() const;
  double runtime_s() const;
  std::optional<double> latency_s() const;
  std::optional<double> clat_s(double percentile) const;
};

// Name of repetition `index` of a job: what its sections are grouped by.
std::string repetition_name(const std::string& job, int index);

// `sections` hold `repetitions` groups named as above. Throws as run_fio does.
FioMeasurement measure_with_fio(const Site& site, const std::string& job, int repetitions,
                                const std::string& direction,
                                const std::vector<FioSection>& sections);

// What is kept in the journal: rates and run times of the repetitions, the disk as iostat has it,
// the limit that was hit.
Json detail_of(const FioMeasurement& measurement, const IoVerdict& limit);

// `depth` requests of `block_bytes` under way on the disk, past the cache.
IoVerdict direct_limit(const FioMeasurement& measurement, double block_bytes, double depth);

// Two metrics that explain `job`: busy share of the disk and mean wait of its reads.
std::vector<MetricInfo> disk_metrics(const std::string& job);
Values disk_values(const FioMeasurement& measurement);

// Metrics of the layer storage and of a node.
MetricInfo storage_metric(std::string name, std::string unit, Better better, bool judged,
                          std::string description, std::string next_check);

}  // namespace fleetbench
