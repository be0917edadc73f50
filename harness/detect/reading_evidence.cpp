#include "harness/detect/reading_evidence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "harness/detect/reading_lines.hpp"
#include "harness/detect/reduce.hpp"

namespace fleetbench::detect {
namespace {

constexpr std::size_t kMostCauses = 2;

using Texts = std::vector<std::string>;

class Teller {
 public:
  Teller(const RunData& run, const Names& names, const DetectOptions& options,
         const std::vector<Finding>& findings)
      : run_(run), names_(names), options_(options), peers_(peers_in(names)), looked_at_(peers_) {
    for (std::size_t i = 0; i < names.nodes.size(); ++i) {
      nodes_[names.nodes[i]] = static_cast<int>(i);
    }
    for (const StepRecord& step : run.steps) {
      steps_[step.id] = step.step;
      for (const MetricInfo& metric : step.metrics) {
        steps_[full_name(step, metric)] = step.step;
      }
    }
    for (const Finding& finding : findings) {
      for (const Sides& side : sides_of(finding.subject)) {
        looked_at_[static_cast<std::size_t>(side.node)] = true;
      }
    }
  }

  void tell(Finding& finding) {
    const auto sides = sides_of(finding.subject);
    const auto steps = steps_of(finding);
    if (sides.empty() || steps.empty()) {
      return;
    }
    auto& readings = read_[steps];
    if (readings == nullptr) {
      readings = std::make_unique<ReadingsOfSteps>(run_, steps, looked_at_);
    }
    std::vector<Line> lines;
    std::vector<Evidence> unread;
    for (const Sides& side : sides) {
      const ReadingsAtHand at_hand{*readings, names_, peers_, min_effect(options_, finding.layer)};
      for (Line& line : lines_of(at_hand, side)) {
        lines.push_back(std::move(line));
      }
      if (auto text = unread_of(at_hand, side); !text.empty()) {
        unread.push_back({side.prefix + text, kTelemetry});
      }
    }
    std::ranges::stable_sort(lines, {}, [](const Line& line) { return line.type; });
    add(std::move(lines), finding);
    std::ranges::move(unread, std::back_inserter(finding.evidence));
  }

 private:
  std::vector<Sides> sides_of(const Subject& subject) const {
    const bool is_link = subject.kind == "link";
    std::vector<Sides> sides;
    for (const std::string& name : is_link ? Texts{subject.a, subject.b} : Texts{subject.node}) {
      const auto found = nodes_.find(name);
      if (found != nodes_.end()) {
        sides.push_back({found->second, subject.device, {}, is_link ? name + ": " : ""});
      }
    }
    for (Sides& side : sides) {
      for (const Sides& other : sides) {
        side.apart.push_back(other.node);
      }
    }
    return sides;
  }

  std::vector<int> steps_of(const Finding& finding) const {
    std::vector<int> steps;
    const auto add = [&](const std::string& name) {
      const auto found = steps_.find(name);
      if (found != steps_.end()) {
        steps.push_back(found->second);
      }
    };
    for (const MetricEvidence& metric : finding.metrics) {
      add(metric.metric);
    }
    for (const Evidence& evidence : finding.evidence) {
      add(evidence.source);
    }
    std::ranges::sort(steps);
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
  }

  // What a covariate of the figures tells already is not said twice.
  static bool is_told(const ReadingType& type, const Finding& finding) {
    const auto is_covariate = [&](const std::string& name) {
      return type.kind == ReadingKind::level && type.path.starts_with("/gpu/" + name);
    };
    return std::ranges::any_of(finding.explained_by_covariates, is_covariate);
  }

  static void add(std::vector<Line> lines, Finding& finding) {
    std::erase_if(lines, [&](const Line& line) { return is_told(*line.type, finding); });
    lines.resize(std::min(lines.size(), kMostReadings));
    std::vector<std::string> causes;
    if (!finding.cause.empty()) {
      causes.push_back(finding.cause);
    }
    for (Line& line : lines) {
      if ((line.type->causes & bit(finding.layer)) != 0 && causes.size() < kMostCauses) {
        causes.push_back(line.evidence.text);
      }
      finding.evidence.push_back(std::move(line.evidence));
    }
    finding.cause = fmt::format("{}", fmt::join(causes, ", "));
  }

  const RunData& run_;
  const Names& names_;
  const DetectOptions& options_;
  std::vector<bool> peers_;
  std::vector<bool> looked_at_;  // peers, and nodes of findings
  std::unordered_map<std::string, int> nodes_;
  std::unordered_map<std::string, int> steps_;  // by id and by the full names of their metrics
  std::map<std::vector<int>, std::unique_ptr<ReadingsOfSteps>> read_;
};

}  // namespace

void add_readings(const RunData& run, const Names& names, const DetectOptions& options,
                  std::vector<Finding>& findings) {
  if (run.imported) {
    return;
  }
  Teller teller(run, names, options, findings);
  for (Finding& finding : findings) {
    if (finding.direction != Direction::fast) {
      teller.tell(finding);
    }
  }
}

}  // namespace fleetbench::detect
