// All probes, whoever runs them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/slots.hpp"
#include "harness/worker/worker.hpp"

namespace fleetbench::cli {

// Nothing that is calibrated takes longer.
inline constexpr double kCalibrate_s = 60;

class Catalog {
 public:
  // Asks the worker what it can, and one for GPUs where this installation has one. Throws
  // std::runtime_error where the first does not answer or is of another build than this program.
  explicit Catalog(worker::Worker& worker);

  const std::vector<plan::ProbeChoice>& probes() const { return probes_; }
  // Null where there is none.
  const plan::ProbeChoice* find(const std::string& name) const;
  // Of a probe of GPUs that is not among them: why this installation cannot measure it.
  std::optional<std::string> why_absent(const std::string& name) const;
  // `params` complete and valid.
  std::vector<MetricInfo> metrics(const plan::ProbeChoice& probe, const Json& params);
  // The work of a step for the whole fleet, found by trying it here within `limit_s`. `meanwhile`
  // as in Worker::ask(). Not for probes of GPUs, which this node need not have.
  Json calibrate(const plan::ProbeChoice& probe, const Json& params, double limit_s,
                 const std::function<void()>& meanwhile);

 private:
  static Json checked(worker::Reply reply, const Json& command);
  void add_probes_of(worker::Worker& worker, const std::string& path, plan::Runner runner);
  void look_for_gpu_worker();

  worker::Worker& worker_;
  std::unique_ptr<worker::Worker> gpu_worker_;
  std::string why_no_gpu_worker_;
  std::vector<plan::ProbeChoice> probes_;
};

// The worker that stands beside this executable.
worker::Worker local_worker();
// The one for the GPU with this UUID; without one, for any or none.
worker::Worker local_gpu_worker(const std::string& uuid);

}  // namespace fleetbench::cli
