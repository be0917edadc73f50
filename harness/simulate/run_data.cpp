#include "harness/simulate/run_data.hpp"

#include <fmt/format.h>

#include <set>

#include "harness/simulate/outcomes.hpp"

namespace fleetbench::simulation {
namespace {

Json inventory(const std::string& generation) {
  return {{"cpu",
           {{"model", "Simulated CPU" + (generation.empty() ? "" : " " + generation)},
            {"sockets", 2},
            {"cores", 64}}},
          {"memory", {{"total_bytes", 549755813888}}}};
}

StepRecord empty_step(int position, const std::string& id, const std::string& probe) {
  StepRecord step;
  step.step = position;
  step.id = id;
  step.probe = probe;
  step.params = Json::object();
  step.work = Json::object();
  return step;
}

SampleRecord sample_of(const Fleet& fleet, const Group& group, int subject, int pass) {
  SampleRecord sample;
  sample.pass = pass;
  sample.node = subject / fleet.per_node(group);
  if (group.of_devices) {
    sample.device = device_name(subject % fleet.spec.devices);
  }
  return sample;
}

double value_of(const Fleet& fleet, std::size_t metric, int subject, int pass) {
  return raw_value(fleet, metric, fleet.measured[metric][subject * fleet.spec.passes + pass]);
}

// One step a group, one record a subject and pass.
class Recording {
 public:
  explicit Recording(const Fleet& fleet) : fleet_(fleet), outcomes_(fleet) {
    add_header();
    for (const Group& group : fleet.groups) {
      StepRecord step =
          empty_step(static_cast<int>(run_.steps.size()), step_name(group), step_name(group));
      for (std::size_t m = group.first; m < group.first + group.count; ++m) {
        step.metrics.push_back(fleet.metrics[m].info);
      }
      run_.steps.push_back(std::move(step));
    }
  }

  RunData run() && {
    for (int pass = 0; pass < fleet_.spec.passes; ++pass) {
      for (std::size_t g = 0; g < fleet_.groups.size(); ++g, ++slot_) {
        for (int subject = 0; subject < fleet_.subjects(fleet_.groups[g]); ++subject) {
          add(pass, g, subject);
        }
      }
    }
    run_.end = EndRecord{false, "", {60, 10, 45}, {fleet_.spec.nodes, 0.001, 30e6}};
    return std::move(run_);
  }

 private:
  void add_header() {
    run_.header.run_id = fmt::format("simulated-{}-{}", fleet_.seed, fleet_.run);
    run_.header.created = "2024-05-01T12:00:00Z";
    run_.header.version = run_.header.build = run_.header.suite = "simulated";
    run_.header.seed = fleet_.seed;
    run_.header.scenario = Json::object();
    for (int i = 0; i < fleet_.spec.nodes; ++i) {
      run_.header.nodes.push_back(
          {i,
           node_name(i),
           "boot-" + node_name(i),
           {i},
           inventory(fleet_.generations.empty() ? "" : fleet_.generations[i]),
           ""});
    }
  }

  void add(int pass, std::size_t g, int subject) {
    const Group& group = fleet_.groups[g];
    const Outcome outcome = outcomes_.of(g, subject, pass);
    if (outcome.lost) {
      add_loss(subject / fleet_.per_node(group), g);
    }
    if (!outcome.recorded) {
      return;
    }
    SampleRecord sample = sample_of(fleet_, group, subject, pass);
    sample.slot = slot_;
    sample.step = static_cast<int>(g);
    sample.status = outcome.status;
    if (outcome.status != Status::ok) {
      sample.reason = "simulated";
    } else {
      for (std::size_t m = group.first; m < group.first + group.count; ++m) {
        sample.values.emplace_back(value_of(fleet_, m, subject, pass));
      }
    }
    run_.samples.push_back(std::move(sample));
  }

  void add_loss(int node, std::size_t g) {
    if (lost_.insert(node).second) {
      run_.losses.push_back({node, node, slot_, run_.steps[g].id, "measure", "simulated"});
    }
  }

  const Fleet& fleet_;
  Outcomes outcomes_;
  RunData run_;
  std::set<int> lost_;
  int slot_ = 0;
};

// One step for all; a record for each node or device and pass, and one for each value that failed.
class Import {
 public:
  explicit Import(const Fleet& fleet) : fleet_(fleet), outcomes_(fleet) {
    run_.imported = true;
    run_.header.run_id = fmt::format("simulated-{}-{}.csv", fleet.seed, fleet.run);
    for (int i = 0; i < fleet.spec.nodes; ++i) {
      NodeInfo node;
      node.index = i;
      node.name = node_name(i);
      node.cohort = fleet.generations.empty() ? "" : fleet.generations[i];
      run_.header.nodes.push_back(std::move(node));
    }
    run_.steps.push_back(empty_step(0, "", "imported"));
    for (std::size_t m = 0; m < fleet.metrics.size(); ++m) {
      MetricInfo info = fleet.metrics[m].info;
      info.name = metric_name(fleet, m);
      run_.steps.front().metrics.push_back(std::move(info));
    }
  }

  RunData run() && {
    for (int pass = 0; pass < fleet_.spec.passes; ++pass) {
      add(pass, false);
      add(pass, true);
    }
    run_.end = EndRecord{};
    return std::move(run_);
  }

 private:
  // All groups of nodes, or all of devices.
  void add(int pass, bool of_devices) {
    const int subjects = fleet_.spec.nodes * (of_devices ? fleet_.spec.devices : 1);
    for (int subject = 0; subject < subjects; ++subject) {
      Values values(fleet_.metrics.size());
      bool any = false;
      for (std::size_t g = 0; g < fleet_.groups.size(); ++g) {
        if (fleet_.groups[g].of_devices == of_devices) {
          any = fill(g, subject, pass, values) || any;
        }
      }
      if (any) {
        SampleRecord sample = sample_of(fleet_, {.of_devices = of_devices}, subject, pass);
        sample.slot = pass;
        sample.values = std::move(values);
        run_.samples.push_back(std::move(sample));
      }
    }
  }

  // True where there are values.
  bool fill(std::size_t g, int subject, int pass, Values& values) {
    const Group& group = fleet_.groups[g];
    const Outcome outcome = outcomes_.of(g, subject, pass);
    if (!outcome.recorded) {
      return false;
    }
    for (std::size_t m = group.first; m < group.first + group.count; ++m) {
      if (outcome.status == Status::ok) {
        values[m] = value_of(fleet_, m, subject, pass);
        continue;
      }
      SampleRecord failure = sample_of(fleet_, group, subject, pass);
      failure.slot = pass;
      failure.status = outcome.status;
      failure.reason = "simulated";
      failure.detail = {{"metric", metric_name(fleet_, m)}};
      run_.samples.push_back(std::move(failure));
    }
    return outcome.status == Status::ok;
  }

  const Fleet& fleet_;
  Outcomes outcomes_;
  RunData run_;
};

}  // namespace

RunData to_run(const Fleet& fleet) {
  return fleet.spec.imported ? Import(fleet).run() : Recording(fleet).run();
}

}  // namespace fleetbench::simulation
