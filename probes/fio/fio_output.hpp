// What fio says about its jobs: a reader of `fio --output-format=json` and json+, fio 2.x and 3.x.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleetbench {

struct FioError {
  int line = 0;      // of the text, from 1; of a job without a message of its own, of the JSON
  std::string kind;  // empty, no_rows, truncated, bad_line, too_many, bad_number, failed
  std::string text;  // printable
  int error = 0;     // errno, where fio names one
};

// One direction in which a job moved data. fio rounds the run time to milliseconds, and computes
// rates from that.
struct FioDirection {
  double io_bytes = 0;
  double bw_bytes_per_s = 0;
  double iops = 0;
  double total_ios = 0;
  double runtime_s = 0;
  std::optional<double> lat_mean_ns;   // from issue to completion
  std::optional<double> clat_mean_ns;  // from submission to completion
  std::optional<double> clat_samples;
  std::map<double, double> clat_percentiles_ns;  // 99.9 → ns; those that fio was asked for

  std::optional<double> clat_ns(double percentile) const;
};

struct FioSteadyState {
  bool attained = false;
  double bw_bytes_per_s = 0;
  double iops = 0;
};

struct FioJob {
  std::string name;  // under group_reporting that of the first of the group
  bool group = false;
  int error = 0;           // errno; then there are no directions, whatever numbers the JSON holds
  std::string error_name;  // ENOSPC
  // read, write, trim, or mixed for all of them together.
  std::map<std::string, FioDirection> directions;
  std::vector<std::string> no_data;  // directions in which it did nothing
  std::optional<FioSteadyState> steadystate;
};

struct FioOutput {
  std::string version;  // "3.33"
  std::vector<FioJob> jobs;
  std::vector<FioError> errors;  // none: everything was read, and no job failed
  std::string other_text;        // what stands before and after the JSON, printable, 4 KiB at most

  const FioJob* find(
      std::string_view job) const;  // the first of that name; null where there is none
};

// Standard output of fio. Never throws because of what is in it.
FioOutput read_fio_output(std::string_view text);

}  // namespace fleetbench
