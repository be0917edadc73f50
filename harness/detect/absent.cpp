#include "harness/detect/absent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "harness/detect/gpus_on_pci.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kMost = 0.8;
constexpr std::size_t kFewestNodes = 3;
constexpr const char* kCheck =
    "See whether it is there (`lspci`, `nvidia-smi -L`, `ip link`, `lsblk`) and what the kernel "
    "log "
    "says of it (`dmesg`); then why nothing measured it.";

// What a step's samples should have, device by device; "" is the node itself.
using Devices = std::map<std::string, std::vector<bool>>;  // device → seen on this node

struct Expected {
  const StepRecord* step = nullptr;
  std::size_t metric = 0;
  Devices seen;
};

bool covers_all(const StepRecord& step) {
  return !step.sampled && !step.of_group && !step.metrics.empty() &&
         std::ranges::none_of(step.metrics, [](const MetricInfo& metric) {
           return metric.subject == SubjectKind::link || metric.subject == SubjectKind::group;
         });
}

bool counts(const MetricInfo& metric) {
  return metric.judged &&
         (metric.subject == SubjectKind::node || metric.subject == SubjectKind::device);
}

// Of imported samples each metric, else each step.
std::vector<Expected> expectations(const RunData& run) {
  std::vector<Expected> result;
  for (const StepRecord& step : run.steps) {
    for (std::size_t m = 0; m < step.metrics.size(); ++m) {
      const bool first = m == 0 && covers_all(step);
      if (run.imported ? counts(step.metrics[m]) : first) {
        result.push_back({&step, m, {}});
      }
    }
  }
  return result;
}

void see(const RunData& run, std::vector<Expected>& all) {
  std::map<int, std::vector<Expected*>> by_step;
  for (Expected& expected : all) {
    by_step[expected.step->step].push_back(&expected);
  }
  for (const SampleRecord& sample : run.samples) {
    const auto found = by_step.find(sample.step);
    if (found == by_step.end() || sample.peer || sample.confirms) {
      continue;
    }
    for (Expected* expected : found->second) {
      const bool has =
          sample.status != Status::ok || !run.imported ||
          (expected->metric < sample.values.size() && sample.values[expected->metric].has_value());
      if (has) {
        auto& nodes = expected->seen[sample.device];
        nodes.resize(run.header.nodes.size());
        nodes[static_cast<std::size_t>(sample.node)] = true;
      }
    }
  }
}

struct Absent {
  Layer layer = Layer::host;
  int node = 0;
  std::string device;

  auto operator<=>(const Absent&) const = default;
};

struct Missing {
  std::vector<std::string> metrics;
  std::size_t have = 0;  // nodes
  std::size_t of = 0;
};

using AllMissing = std::map<Absent, Missing>;

// Nodes of each cohort.
std::map<int, std::vector<int>> members(const Names& names) {
  std::map<int, std::vector<int>> result;
  for (std::size_t node = 0; node < names.cohorts.size(); ++node) {
    result[names.cohorts[node]].push_back(static_cast<int>(node));
  }
  return result;
}

std::string what_of(const RunData& run, const Expected& expected) {
  return run.imported ? full_name(*expected.step, expected.step->metrics[expected.metric])
                      : expected.step->id;
}

void find_in(const RunData& run, const Expected& expected, const std::vector<int>& nodes,
             AllMissing& missing) {
  if (nodes.size() < kFewestNodes) {
    return;
  }
  std::set<int> silent;  // of which no device is there: the node is missing, not each device
  for (const int node : nodes) {
    const bool any = std::ranges::any_of(expected.seen, [node](const auto& entry) {
      return entry.second[static_cast<std::size_t>(node)];
    });
    if (!any) {
      silent.insert(node);
    }
  }
  const auto add = [&](int node, const std::string& device, std::size_t have) {
    Missing& entry = missing[{expected.step->metrics[expected.metric].layer, node, device}];
    entry.metrics.push_back(what_of(run, expected));
    entry.have = have;
    entry.of = nodes.size();
  };
  // Devices of runs of our own are those that the ranks saw: of few nodes one that lacks a device
  // which all others have lacks it.
  const auto most = [&](std::size_t some, bool of_device = false) {
    const bool all_but_one = of_device && !run.imported && some + 1 == nodes.size();
    return some < nodes.size() &&
           (all_but_one || static_cast<double>(some) >= kMost * static_cast<double>(nodes.size()));
  };
  if (const std::size_t have = nodes.size() - silent.size(); most(have)) {
    for (const int node : silent) {
      add(node, "", have);
    }
  }
  for (const auto& [device, seen] : expected.seen) {
    const auto have = static_cast<std::size_t>(std::ranges::count_if(
        nodes, [&seen = seen](int node) { return seen[static_cast<std::size_t>(node)]; }));
    if (!device.empty() && most(have, true)) {
      for (const int node : nodes) {
        if (!seen[static_cast<std::size_t>(node)] && !silent.contains(node)) {
          add(node, device, have);
        }
      }
    }
  }
}

// What is told of elsewhere.
class Accounted {
 public:
  Accounted(const RunData& run, const std::vector<Trouble>& troubles) : lost_(lost_nodes(run)) {
    for (const OmissionRecord& omission : run.omissions) {
      for (const StepRecord& step : run.steps) {
        if (step.id == omission.step) {
          omitted_.insert({step.step, omission.node.value_or(-1)});
        }
      }
    }
    for (const NodeInfo& node : run.header.nodes) {
      if (hides_gpus(node)) {
        hides_.insert(node.index);
      }
    }
    for (const Trouble& trouble : troubles) {
      troubled_.insert({trouble.step, trouble.node});
    }
  }

  bool knows(const Expected& expected, int node) const {
    const int step = expected.step->step;
    const bool is_hidden = hides_.contains(node) &&
                           expected.step->metrics[expected.metric].subject == SubjectKind::device;
    return is_hidden || lost_.contains(node) || omitted_.contains({step, node}) ||
           omitted_.contains({step, -1});
  }
  bool knows_device(const Expected& expected, int node) const {
    return troubled_.contains({expected.step->step, node});
  }

 private:
  std::set<int> lost_;
  std::set<int> hides_;  // some of its GPUs from the run, on purpose
  std::set<std::pair<int, int>> omitted_;
  std::set<std::pair<int, int>> troubled_;
};

Finding finding_of(const RunData& run, const Absent& absent, const Missing& missing) {
  Finding finding;
  finding.subject.kind = absent.device.empty() ? "node" : "device";
  finding.subject.node = run.header.nodes.at(static_cast<std::size_t>(absent.node)).name;
  finding.subject.device = absent.device;
  finding.direction = Direction::missing;
  finding.status = FindingStatus::confirmed;
  finding.layer = absent.layer;
  finding.p_value = 0;
  const std::string more =
      missing.metrics.size() > 1 ? fmt::format(" and {} more", missing.metrics.size() - 1) : "";
  finding.evidence.push_back({fmt::format("nothing came back of {}{}, which {} of {} nodes have",
                                          missing.metrics.front(), more, missing.have, missing.of),
                              missing.metrics.front()});
  finding.next_check = kCheck;
  return finding;
}

}  // namespace

std::vector<Finding> absent_subjects(const RunData& run, const Names& names,
                                     const std::vector<Trouble>& troubles) {
  if (!run.imported && (!run.end || run.end->interrupted)) {
    return {};  // a run that broke off has not asked everybody
  }
  std::vector<Expected> all = expectations(run);
  see(run, all);
  const Accounted accounted(run, troubles);
  const auto cohorts = members(names);
  AllMissing missing;
  for (Expected& expected : all) {
    for (auto& [device, nodes] : expected.seen) {
      nodes.resize(run.header.nodes.size());
    }
    AllMissing of_one;
    for (const auto& [cohort, nodes] : cohorts) {
      find_in(run, expected, nodes, of_one);
    }
    for (auto& [absent, entry] : of_one) {
      const bool known =
          accounted.knows(expected, absent.node) ||
          (run.imported && accounted.knows_device(expected, absent.node) && absent.device.empty());
      if (!known) {
        Missing& merged = missing[absent];
        merged.metrics.push_back(entry.metrics.front());
        merged.have = entry.have;
        merged.of = entry.of;
      }
    }
  }
  std::vector<Finding> findings;
  for (const auto& [absent, entry] : missing) {
    findings.push_back(finding_of(run, absent, entry));
  }
  return findings;
}

}  // namespace fleetbench::detect
