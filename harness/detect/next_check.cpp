#include "harness/detect/next_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "harness/detect/reduce.hpp"
#include "harness/detect/replaced.hpp"

namespace fleetbench::detect {
namespace {

constexpr std::string_view kUnquoted =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-";

// As a shell takes it for one word.
std::string quoted(const std::string& text) {
  if (!text.empty() && text.find_first_not_of(kUnquoted) == std::string::npos) {
    return text;
  }
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return result + "'";
}

// As it was given to the run: the scenario's name need not be that of a suite.
std::string suite_of(const RunHeader& header) {
  const auto& arguments = header.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (const std::string_view option : {"--suite", "-s"}) {
      if (arguments[i] == option && i + 1 < arguments.size()) {
        return arguments[i + 1];
      }
    }
    if (arguments[i].starts_with("--suite=")) {
      return arguments[i].substr(std::string_view("--suite=").size());
    }
  }
  return header.suite;
}

const StepRecord* step_of(const RunData& run, const Finding& finding) {
  const auto named = [&](const std::string& name) -> const StepRecord* {
    for (const StepRecord& step : run.steps) {
      const bool has =
          step.id == name || std::ranges::any_of(step.metrics, [&](const auto& metric) {
            return full_name(step, metric) == name;
          });
      if (has) {
        return &step;
      }
    }
    return nullptr;
  };
  for (const MetricEvidence& metric : finding.metrics) {
    if (const StepRecord* step = named(metric.metric)) {
      return step;
    }
  }
  for (const Evidence& evidence : finding.evidence) {
    if (const StepRecord* step = named(evidence.source)) {
      return step;
    }
  }
  return nullptr;
}

// What a step of a scenario was made into is asked for by that.
std::string scenario_id(const std::string& id) { return id.substr(0, id.find('@')); }

std::string uuid_of(const RunData& run, const Subject& subject) {
  for (const NodeInfo& node : run.header.nodes) {
    const Json& cuda = node.inventory.part("cuda");
    if (node.name != subject.node || !cuda.is_object() || !cuda.contains("gpus")) {
      continue;
    }
    for (const Json& gpu : cuda.at("gpus")) {
      if (gpu.is_object() && gpu.value("label", Json()) == subject.device) {
        const Json uuid = gpu.value("uuid", Json());
        return uuid.is_string() ? uuid.get<std::string>() : "";
      }
    }
  }
  return "";
}

std::string gpu_of(const RunData& run, const Subject& subject) {
  constexpr std::string_view kLabel = "gpu";
  if (subject.device.empty()) {
    return "";
  }
  const std::string uuid = uuid_of(run, subject);
  if (!uuid.empty()) {
    return fmt::format("CUDA_VISIBLE_DEVICES={} ", quoted(uuid));
  }
  return subject.device.starts_with(kLabel)
             ? fmt::format("CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES={} ",
                           quoted(subject.device.substr(kLabel.size())))
             : "";
}

}  // namespace

void fill_next_checks(const RunData& run, std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    std::string& text = finding.next_check;
    if (text.find('{') == std::string::npos) {
      continue;
    }
    const StepRecord* step = step_of(run, finding);
    const std::string only =
        step == nullptr ? "" : fmt::format(" --only {}", quoted(scenario_id(step->id)));
    text = replaced(std::move(text), "{node}", finding.subject.node);
    text = replaced(std::move(text), "{gpu}", gpu_of(run, finding.subject));
    text = replaced(std::move(text), "{run}",
                    fmt::format("fleetbench --suite {}{} --passes 1 --no-confirm",
                                quoted(suite_of(run.header)), only));
  }
}

}  // namespace fleetbench::detect
