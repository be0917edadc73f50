#include "harness/detect/coverage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fleetbench::detect {
namespace {

std::string name_of(const RunData& run, Who who) {
  const auto& nodes = run.header.nodes;
  return who.second < 0
             ? nodes.at(who.first).name
             : fmt::format("{} - {}", nodes.at(who.first).name, nodes.at(who.second).name);
}

bool omitted(const RunData& run, const std::string& step, int node) {
  return std::any_of(run.omissions.begin(), run.omissions.end(), [&](const OmissionRecord& record) {
    return record.step == step && (!record.node || *record.node == node);
  });
}

void add_skipped(const RunData& run, const StepAttempts& attempts,
                 const std::vector<Difference>& differences, std::vector<NotMeasured>& result) {
  std::map<std::string, std::vector<Who>> by_reason;
  for (const auto& [who, troubles] : attempts.skipped) {
    by_reason[troubles.front()->reason].push_back(who);
  }
  for (const auto& [reason, who] : by_reason) {
    std::vector<std::string> names;
    std::vector<int> nodes;
    for (const Who& one : who) {
      names.push_back(name_of(run, one));
      nodes.push_back(one.first);
    }
    const bool all = names.size() == attempts.passes.size();
    const std::string cause = cause_of_skipping(differences, run.header.nodes, attempts.layer(),
                                                nodes, attempts.passes.size());
    result.push_back({all ? attempts.step->id
                          : fmt::format("{} on {}", attempts.step->id, fmt::join(names, ", ")),
                      (reason.empty() ? "skipped" : reason) + (cause.empty() ? "" : "; ") + cause});
  }
}

// Nodes that should have been asked and were not. Pairs and samples of nodes are drawn, so nobody
// is missing there.
std::vector<int> silent_nodes(const RunData& run, const StepAttempts& attempts,
                              const std::set<int>& lost) {
  std::vector<int> silent;
  const std::size_t nodes = run.header.nodes.size();
  if (attempts.pairs || attempts.step->sampled) {
    return silent;
  }
  for (int node = 0; node < static_cast<int>(nodes); ++node) {
    if (!attempts.passes.contains({node, -1}) && !lost.contains(node) &&
        !omitted(run, attempts.step->id, node)) {
      silent.push_back(node);
    }
  }
  return silent;
}

void add_silent(const RunData& run, const StepAttempts& attempts, const std::set<int>& lost,
                std::vector<NotMeasured>& result) {
  std::vector<std::string> names;
  for (const int node : silent_nodes(run, attempts, lost)) {
    names.push_back(run.header.nodes[node].name);
  }
  if (!names.empty() && !attempts.step->metrics.empty()) {
    result.push_back({attempts.passes.empty()
                          ? attempts.step->id
                          : fmt::format("{} on {}", attempts.step->id, fmt::join(names, ", ")),
                      "no sample came back"});
  }
}

// What a probe said that it could not measure on a node beside what it could.
using Reasons = std::map<std::pair<std::string, std::string>, std::set<int>>;  // what, why → nodes

void collect_parts(const StepRecord& step, const SampleRecord& sample, Reasons& reasons) {
  const auto found =
      sample.detail.is_object() ? sample.detail.find("not_measured") : sample.detail.end();
  if (found == sample.detail.end() || !found->is_array()) {
    return;
  }
  for (const Json& part : *found) {
    if (part.is_object()) {
      reasons[{step.id + "." + part.value("what", "?"), part.value("reason", "")}].insert(
          sample.node);
    }
  }
}

void add_parts(const RunData& run, std::vector<NotMeasured>& result) {
  Reasons reasons;
  for (const SampleRecord& sample : run.samples) {
    if (sample.status == Status::ok) {
      collect_parts(run.steps.at(sample.step), sample, reasons);
    }
  }
  for (const auto& [what, nodes] : reasons) {
    std::vector<std::string> names;
    for (const int node : nodes) {
      names.push_back(run.header.nodes.at(node).name);
    }
    const bool all = nodes.size() == run.header.nodes.size();
    result.push_back(
        {all ? what.first : fmt::format("{} on {}", what.first, fmt::join(names, ", ")),
         what.second});
  }
}

struct Share {
  std::size_t measured = 0;
  std::size_t expected = 0;
};

std::map<Layer, Share> share_of_layers(const RunData& run,
                                       const std::vector<StepAttempts>& attempts) {
  std::map<Layer, Share> shares;
  for (const StepAttempts& of_step : attempts) {
    if (of_step.step->metrics.empty()) {
      continue;
    }
    std::size_t absent = 0;
    if (of_step.passes.empty()) {
      absent = run.header.nodes.size();
    } else if (!of_step.pairs && !of_step.step->sampled) {
      for (int node = 0; node < static_cast<int>(run.header.nodes.size()); ++node) {
        absent += !of_step.passes.contains({node, -1}) && omitted(run, of_step.step->id, node);
      }
    }
    Share& share = shares[of_step.layer()];
    share.measured += of_step.good.size();
    share.expected += of_step.passes.size() + absent;
  }
  return shares;
}

}  // namespace

std::vector<NotMeasured> list_not_measured(const RunData& run,
                                           const std::vector<StepAttempts>& attempts,
                                           const std::vector<Difference>& differences) {
  std::vector<NotMeasured> result;
  const std::set<int> lost = lost_nodes(run);
  for (const StepAttempts& of_step : attempts) {
    add_skipped(run, of_step, differences, result);
    add_silent(run, of_step, lost, result);
  }
  add_parts(run, result);
  for (const OmissionRecord& record : run.omissions) {
    result.push_back(
        {record.node ? fmt::format("{} on {}", record.step, run.header.nodes.at(*record.node).name)
                     : record.step,
         record.reason});
  }
  for (const NodeInfo& node : run.header.nodes) {
    if (node.inventory.is_null() && !run.imported) {
      result.push_back({"inventory on " + node.name, "it could not be taken"});
    }
  }
  return result;
}

std::vector<std::string> coverage_gaps(const RunData& run,
                                       const std::vector<StepAttempts>& attempts) {
  std::vector<std::string> gaps;
  std::size_t measured = 0;
  for (const auto& [layer, share] : share_of_layers(run, attempts)) {
    measured += share.measured;
    if (2 * share.measured < share.expected) {
      gaps.push_back(fmt::format("{} of the {} layer was measured",
                                 share.measured == 0 ? "nothing" : "less than half",
                                 to_string(layer)));
    }
  }
  if (measured == 0) {
    gaps.assign(1, "nothing was measured");
  }
  return gaps;
}

}  // namespace fleetbench::detect
