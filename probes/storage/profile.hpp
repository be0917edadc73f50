// One way in which training uses storage, measured by itself: a profile of the probe `storage`.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probes/support/volume.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench {

// What a profile asks of a file system.
struct IoDemand {
  double disk_bytes = 0;  // on the disk at one time
  double operations = 0;  // in one measurement: requests, or operations on names
  double bytes = 0;       // in one measurement: read and written
};

// Where it is measured.
struct Site {
  std::filesystem::path folder;  // scratch, ours alone
  HostFiles files;
  Volume volume;
  double fio_limit_s = 0;
};

struct Outcome {
  Values values;  // one per metric, in order
  Json detail = Json::object();
  std::optional<double> read_bytes_per_s;  // what small_to_sequential is made of
};

class Profile {
 public:
  virtual ~Profile() = default;
  virtual std::string name() const = 0;
  virtual bool needs_fio() const { return true; }
  virtual bool needs_direct_io() const { return false; }
  virtual std::vector<MetricInfo> metrics() const = 0;
  virtual IoDemand demand() const = 0;
  // Untimed: makes the files that will be read. Throws std::runtime_error naming the path.
  virtual void lay_out(const Site& site) = 0;
  // Throws std::runtime_error, WrongResult or NotAvailable.
  virtual Outcome measure(const Site& site) = 0;
};

std::unique_ptr<Profile> make_sequential(const Json& params);
std::unique_ptr<Profile> make_random_read(const Json& params);
std::unique_ptr<Profile> make_small_files(const Json& params);
std::unique_ptr<Profile> make_shards(const Json& params);
std::unique_ptr<Profile> make_checkpoint(const Json& params);

// Precondition: `name` is one of those that the schema of `profiles` allows.
std::unique_ptr<Profile> make_profile(const std::string& name, const Json& params);

}  // namespace fleetbench
