// What a worker answers to each command; serve.hpp lists them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probes/probe.hpp"

namespace fleetbench {

class ProbeServer {
 public:
  // `probes` must outlive it.
  explicit ProbeServer(const std::vector<std::unique_ptr<Probe>>& probes) : probes_(probes) {}

  // To one line, with "status" and, unless that is `ok`, "reason". Throws nothing of a probe's.
  Json answer(const std::string& line);

 private:
  const Probe& probe_of(const Json& command) const;
  Json carry_out(const Json& command);
  Json catalog() const;
  Json prepare(const Json& command);
  Json measure(const Json& command);

  const std::vector<std::unique_ptr<Probe>>& probes_;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace fleetbench
