#include "harness/detect/baseline_view.hpp"

namespace fleetbench::detect {

BaselineView::BaselineView(const Baseline& baseline) {
  for (const BaselineMetric& metric : baseline.metrics) {
    metrics_.emplace(std::tuple(metric.key, metric.cohort), &metric);
  }
  for (const BaselineSubject& subject : baseline.subjects) {
    subjects_.emplace(std::tuple(subject.key, subject.node, subject.device), &subject);
  }
}

const BaselineMetric* BaselineView::metric(const BaselineKey& key,
                                           const std::string& cohort) const {
  const auto found = metrics_.find({key, cohort});
  return found == metrics_.end() ? nullptr : found->second;
}

const BaselineSubject* BaselineView::subject(const BaselineKey& key, const std::string& node,
                                             const std::string& device) const {
  const auto found = subjects_.find({key, node, device});
  return found == subjects_.end() ? nullptr : found->second;
}

}  // namespace fleetbench::detect
