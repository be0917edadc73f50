#include "tests/unit/pairs_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace fleetbench {
namespace {

constexpr double kRate = 12.5e9;

// Between 0.99 and 1.01, the same on every machine.
double wobble(int a, int b) { return 1 + 0.01 * ((a * 7 + b * 13) % 5 - 2) / 2; }

double blocks(int from, int to) {
  return kRate * wobble(from, to) * (from % 2 == to % 2 ? 1.0 : 0.5);
}

double without_node5(int from, int to) {
  return blocks(from, to) * (from == 5 || to == 5 ? 0.3 : 1);
}

}  // namespace

RunData run_of(int nodes) {
  RunData run;
  for (int i = 0; i < nodes; ++i) {
    NodeInfo node;
    node.index = i;
    node.name = fmt::format("node{}", i);
    node.ranks = {i};
    run.header.nodes.push_back(std::move(node));
  }
  return run;
}

StepRecord& add_pairs(RunData& run, const std::string& id, int nodes,
                      const std::function<double(int from, int to)>& speed_of,
                      const std::string& rail) {
  const bool is_new = run.steps.empty() || run.steps.back().id != id;
  if (is_new) {
    StepRecord step;
    step.step = static_cast<int>(run.steps.size());
    step.id = id;
    step.metrics = {{.name = "bandwidth",
                     .unit = "B/s",
                     .better = Better::higher,
                     .layer = Layer::network,
                     .subject = SubjectKind::link}};
    run.steps.push_back(std::move(step));
  }
  for (int from = 0; from < nodes; ++from) {
    for (int to = 0; to < nodes; ++to) {
      if (from == to) {
        continue;
      }
      SampleRecord sample;
      sample.step = run.steps.back().step;
      sample.node = from;
      sample.peer = to;
      sample.values = {speed_of(from, to)};
      if (!rail.empty()) {
        sample.ends = {{from, rail}, {to, rail}};
      }
      run.samples.push_back(std::move(sample));
    }
  }
  return run.steps.back();
}

SampleRecord& sample_of_pair(RunData& run, int step, int from, int to) {
  const auto found = std::ranges::find_if(run.samples, [&](const SampleRecord& sample) {
    return sample.step == step && sample.node == from && sample.peer == to;
  });
  if (found == run.samples.end()) {
    throw std::logic_error("there is no such pair");
  }
  return *found;
}

RunData pairs_run() {
  RunData run = run_of(40);
  add_pairs(run, "mpi_pairs", 4,
            [](int from, int to) { return kRate * wobble(from, to) * (from == 1 ? 0.52 : 1); });
  SampleRecord& failed = sample_of_pair(run, 0, 3, 0);
  failed.status = Status::failed;
  failed.values.clear();
  add_pairs(run, "nccl_pairs", 12, blocks, "gpu0");
  add_pairs(run, "nccl_pairs", 12, without_node5, "gpu1");
  const auto times = [](int from, int to) {
    return 2e-6 * wobble(from, to) * (from == 17 || to == 17 ? 1.4 : 1);
  };
  MetricInfo& latency = add_pairs(run, "latency", 32, times).metrics.front();
  latency.name = "latency";
  latency.unit = "s";
  latency.better = Better::lower;
  latency.symmetric = true;
  add_pairs(run, "large", 40, [](int from, int to) {
    return kRate * wobble(from, to) * (to == 33 ? 0.7 : 1) * (from == 2 && to == 9 ? 0.4 : 1);
  });
  return run;
}

}  // namespace fleetbench
