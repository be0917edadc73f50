#include "harness/simulate/run_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace fleetbench::simulation {
namespace {

using Moment = std::tuple<std::size_t, int, int>;  // group, subject, pass

std::map<Moment, const Trouble*> by_moment(const Fleet& fleet) {
  std::map<Moment, const Trouble*> troubles;
  for (const Trouble& trouble : fleet.troubles) {
    troubles[{trouble.group, trouble.subject, trouble.pass}] = &trouble;
  }
  return troubles;
}

Json inventory(const std::string& generation) {
  return {{"cpu",
           {{"model", "Simulated CPU" + (generation.empty() ? "" : " " + generation)},
            {"sockets", 2},
            {"cores", 64}}},
          {"memory", {{"total_bytes", 549755813888}}}};
}

RunHeader header_of(const Fleet& fleet) {
  RunHeader header;
  header.run_id = fmt::format("simulated-{}", fleet.seed);
  header.created = "2024-05-01T12:00:00Z";
  header.version = "simulated";
  header.build = "simulated";
  header.suite = "simulated";
  header.seed = fleet.seed;
  header.scenario = Json::object();
  for (int i = 0; i < fleet.spec.nodes; ++i) {
    const std::string generation = fleet.generations.empty() ? "" : fleet.generations[i];
    NodeInfo node{i, node_name(i), "boot-" + node_name(i), {i}, Json(), ""};
    if (fleet.spec.imported) {
      node.cohort = generation;
    } else {
      node.inventory = inventory(generation);
    }
    header.nodes.push_back(std::move(node));
  }
  return header;
}

StepRecord step_of(const Fleet& fleet, std::size_t position) {
  const Group& group = fleet.groups[position];
  StepRecord step;
  step.step = static_cast<int>(position);
  step.id = step_name(group);
  step.probe = step.id;
  step.params = Json::object();
  step.work = Json::object();
  for (std::size_t m = group.first; m < group.first + group.count; ++m) {
    step.metrics.push_back(fleet.metrics[m].info);
  }
  return step;
}

class Recording {
 public:
  explicit Recording(const Fleet& fleet) : fleet_(fleet), troubles_(by_moment(fleet)) {
    run_.header = header_of(fleet);
    run_.imported = fleet.spec.imported;
    for (std::size_t g = 0; g < fleet.groups.size(); ++g) {
      run_.steps.push_back(step_of(fleet, g));
    }
  }

  RunData record() {
    for (int pass = 0; pass < fleet_.spec.passes; ++pass) {
      for (std::size_t g = 0; g < fleet_.groups.size(); ++g) {
        for (int subject = 0; subject < fleet_.subjects(fleet_.groups[g]); ++subject) {
          add(pass, g, subject);
        }
        ++slot_;
      }
    }
    if (!fleet_.spec.imported) {
      run_.end = EndRecord{false, "", {60, 10, 45}, {fleet_.spec.nodes, 0.001, 30e6}};
    }
    return std::move(run_);
  }

 private:
  int node_of(std::size_t g, int subject) const {
    return subject / fleet_.per_node(fleet_.groups[g]);
  }

  void add(int pass, std::size_t g, int subject) {
    const int node = node_of(g, subject);
    if (!fleet_.lost_from.empty() && fleet_.lost_from[node] <= pass) {
      add_loss(node, g);
      return;
    }
    const auto trouble = troubles_.find({g, subject, pass});
    if (trouble != troubles_.end() && trouble->second->absent) {
      return;
    }
    SampleRecord sample;
    sample.slot = slot_;
    sample.step = static_cast<int>(g);
    sample.pass = pass;
    sample.node = node;
    if (fleet_.groups[g].of_devices) {
      sample.device = device_name(subject % fleet_.spec.devices);
    }
    if (trouble != troubles_.end()) {
      sample.status = trouble->second->status;
      sample.reason = "simulated";
    } else {
      sample.values = values(fleet_.groups[g], subject, pass);
    }
    run_.samples.push_back(std::move(sample));
  }

  Values values(const Group& group, int subject, int pass) const {
    Values values;
    values.reserve(group.count);
    for (std::size_t m = group.first; m < group.first + group.count; ++m) {
      values.emplace_back(
          raw_value(fleet_, m, fleet_.measured[m][subject * fleet_.spec.passes + pass]));
    }
    return values;
  }

  void add_loss(int node, std::size_t g) {
    if (lost_.insert(node).second) {
      run_.losses.push_back({node, node, slot_, run_.steps[g].id, "measure", "simulated"});
    }
  }

  const Fleet& fleet_;
  std::map<Moment, const Trouble*> troubles_;
  RunData run_;
  std::set<int> lost_;
  int slot_ = 0;
};

}  // namespace

RunData to_run(const Fleet& fleet) { return Recording(fleet).record(); }

}  // namespace fleetbench::simulation
