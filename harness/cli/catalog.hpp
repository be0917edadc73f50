// All probes, whoever runs them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/plan/slots.hpp"
#include "harness/worker/worker.hpp"

namespace fleetbench::cli {

// Nothing that is calibrated takes longer.
inline constexpr double kCalibrate_s = 60;

class Catalog {
 public:
  // Asks the worker what it can. Throws std::runtime_error where it does not answer or is of
  // another build than this program.
  explicit Catalog(worker::Worker& worker);

  const std::vector<plan::ProbeChoice>& probes() const { return probes_; }
  // Null where there is none.
  const plan::ProbeChoice* find(const std::string& name) const;
  // `params` complete and valid.
  std::vector<MetricInfo> metrics(const plan::ProbeChoice& probe, const Json& params);
  // The work of a step for the whole fleet, found by trying it here within `limit_s`. `meanwhile`
  // as in Worker::ask().
  Json calibrate(const plan::ProbeChoice& probe, const Json& params, double limit_s,
                 const std::function<void()>& meanwhile);

 private:
  static Json checked(worker::Reply reply, const Json& command);

  worker::Worker& worker_;
  std::vector<plan::ProbeChoice> probes_;
};

// The worker that stands beside this executable.
worker::Worker local_worker();

}  // namespace fleetbench::cli
