#include "tests/unit/collectives_run.hpp"

#include "results-schema/collective_rule.hpp"

namespace fleetbench {
namespace {

constexpr std::size_t kSizes[] = {8, 4096, 1 << 20};

StepRecord step_of(int index, const std::string& id, const std::vector<std::string>& collectives) {
  StepRecord step;
  step.step = index;
  step.id = id;
  step.probe = "mpi_collectives";
  step.params = {{"begin_bytes", 8}, {"end_bytes", 1 << 20}, {"factor", 512},
                 {"iterations", 20}, {"warmup", 3},          {"max_s", 0.2}};
  step.work = Json::object();
  for (const std::string& collective : collectives) {
    for (const char* size : {"8", "4K", "1M"}) {
      step.metrics.push_back({.name = collective + ".busbw." + size,
                              .unit = "B/s",
                              .better = Better::higher,
                              .layer = Layer::network,
                              .subject = SubjectKind::group});
    }
  }
  return step;
}

// What member `me` timed: 10 us and a byte a nanosecond, each member 1 % more than the one before.
SampleRecord sample_of(const StepRecord& step, int slot, int pass, int node, int me,
                       std::size_t members) {
  SampleRecord sample;
  sample.slot = slot;
  sample.step = step.step;
  sample.pass = pass;
  sample.node = node;
  Json bytes = Json::array();
  Json time_s = Json::array();
  for (std::size_t i = 0; i < step.metrics.size(); ++i) {
    const std::string& name = step.metrics[i].name;
    const CollectiveRule& rule = *find_collective_rule(name.substr(0, name.find('.')));
    bytes.push_back(rule.bytes(rule.count(kSizes[i % 3], members), members));
    if (bytes.back() == 0) {
      time_s.push_back(nullptr);
      sample.values.emplace_back(std::nullopt);
      continue;
    }
    const double seconds = (10e-6 + bytes.back().get<double>() * 1e-9) * (1 + 0.01 * me);
    time_s.push_back(seconds);
    sample.values.emplace_back(bytes.back().get<double>() / seconds * rule.busbw_factor(members));
  }
  sample.detail = {{"members", members}, {"bytes", bytes}, {"time_s", time_s}};
  return sample;
}

SampleRecord wrong(SampleRecord sample) {
  sample.status = Status::wrong;
  sample.reason = "mpi_collectives: all_reduce of 4096 bytes over 4 ranks: element 1 is 5";
  sample.values.clear();
  sample.detail.erase("time_s");
  sample.detail["wrong"] = Json::array({0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  return sample;
}

}  // namespace

RunData collectives_run() {
  RunData run;
  run.header.run_id = "20240501T120000Z-00c0ffee";
  run.header.version = "0.1.0";
  for (int i = 0; i < 4; ++i) {
    const std::string name = i == 3 ? "bad\x1b[31m\nname" : "node" + std::to_string(i);
    run.header.nodes.push_back({i, name, "boot", {i}, Json::object()});
  }
  run.steps = {step_of(0, "mpi_collectives",
                       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"}),
               step_of(1, "groups", {"all_reduce"})};
  for (int pass = 0; pass < 3; ++pass) {
    for (int node = 0; node < 4; ++node) {
      const SampleRecord sample = sample_of(run.steps[0], 2 * pass, pass, node, node, 4);
      run.samples.push_back(pass == 1 ? wrong(sample) : sample);
      SampleRecord grouped = sample_of(run.steps[1], 2 * pass + 1, pass, node, 1 - node / 2, 2);
      grouped.group = {2 + node % 2, node % 2};
      run.samples.push_back(grouped);
    }
  }
  return run;
}

}  // namespace fleetbench
