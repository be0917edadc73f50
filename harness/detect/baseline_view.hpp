// Looks things up in a baseline.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "results-schema/baseline.hpp"

namespace fleetbench::detect {

// Answers are those of equal keys only: what was measured by another method is not there, and
// imported samples (without a method) meet only a baseline that was built from imported ones.
class BaselineView {
 public:
  // `baseline` must outlive this.
  explicit BaselineView(const Baseline& baseline);

  // nullptr where the baseline does not have it.
  const BaselineMetric* metric(const BaselineKey& key, const std::string& cohort) const;
  // `device` is empty for the node itself. A node whose hardware was exchanged is still found by
  // its name: compare the cohort.
  const BaselineSubject* subject(const BaselineKey& key, const std::string& node,
                                 const std::string& device) const;

 private:
  std::map<std::tuple<BaselineKey, std::string>, const BaselineMetric*> metrics_;
  std::map<std::tuple<BaselineKey, std::string, std::string>, const BaselineSubject*> subjects_;
};

}  // namespace fleetbench::detect
