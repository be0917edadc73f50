#include "harness/detect/figure.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "harness/detect/reduce.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

Role role_of(const MetricInfo& metric, std::string_view suffix, const std::string& kind) {
  if (kind == "link") {
    return Role::link;
  }
  if (metric.subject != SubjectKind::link) {
    return Role::own;
  }
  return suffix == " sending" ? Role::sends : suffix == " receiving" ? Role::receives : Role::talks;
}

bool is_on_rail(const SampleRecord& sample, const Target& target, Role role) {
  return role == Role::own || target.device.empty() ||
         (carried_by(sample, target.node, target.device) &&
          (!target.peer || carried_by(sample, *target.peer, target.device)));
}

bool speaks_of(const SampleRecord& sample, const Target& target, Role role) {
  if (!is_on_rail(sample, target, role)) {
    return false;
  }
  switch (role) {
    case Role::own:
      return sample.node == target.node &&
             (target.device.empty() || sample.device == target.device);
    case Role::sends:
      return sample.peer && sample.node == target.node;
    case Role::receives:
      return sample.peer == target.node;
    case Role::talks:
      return sample.peer && (sample.node == target.node || sample.peer == target.node);
    case Role::link:
    case Role::shared:
      break;
  }
  return (sample.node == target.node && sample.peer == target.peer) ||
         (!target.directed && sample.peer == target.node && sample.node == target.peer);
}

std::optional<int> node_named(const RunData& run, const std::string& name) {
  for (const NodeInfo& node : run.header.nodes) {
    if (node.name == name) {
      return node.index;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Figure> figure_named(const RunData& run, const std::string& name,
                                   const std::string& kind) {
  for (const StepRecord& step : run.steps) {
    for (std::size_t m = 0; m < step.metrics.size(); ++m) {
      const std::string full = full_name(step, step.metrics[m]);
      if (name == full || name == full + " sending" || name == full + " receiving") {
        const auto suffix = std::string_view(name).substr(full.size());
        return Figure{step.step, m, role_of(step.metrics[m], suffix, kind)};
      }
    }
  }
  return std::nullopt;
}

std::optional<Target> target_of(const RunData& run, const Subject& subject) {
  const bool link = subject.kind == "link";
  const bool rail = subject.kind == "rail";
  if (!link && !rail && subject.kind != "node" && subject.kind != "device") {
    return std::nullopt;
  }
  const auto node = node_named(run, link ? subject.a : subject.node);
  const auto peer = link ? node_named(run, subject.b) : std::nullopt;
  if (!node || (link && !peer)) {
    return std::nullopt;
  }
  return Target{*node, peer, subject.rail.empty() ? subject.device : subject.rail,
                subject.directed};
}

bool carried_by(const SampleRecord& sample, int node, const std::string& device) {
  return std::ranges::find(sample.ends, End{node, device}) != sample.ends.end();
}

std::optional<double> level_of(const RunData& run, const Figure& figure, const Target& target,
                               const std::function<bool(const SampleRecord&)>& chosen) {
  std::vector<double> levels;
  const MetricInfo& metric = run.steps.at(figure.step).metrics.at(figure.metric);
  Target of_metric = target;
  of_metric.directed = target.directed && !metric.symmetric;
  for (const SampleRecord& sample : run.samples) {
    if (sample.step != figure.step || figure.metric >= sample.values.size() ||
        !speaks_of(sample, of_metric, figure.role) || !chosen(sample)) {
      continue;
    }
    const auto value = sample.values[figure.metric];
    if (value && std::isfinite(*value) && *value > 0) {
      levels.push_back(to_x(*value, metric.better));
    }
  }
  return levels.empty() ? std::nullopt : std::optional(median(std::move(levels)));
}

}  // namespace fleetbench::detect
