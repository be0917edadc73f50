#include "tests/unit/detect_simulation.hpp"

#include <algorithm>
#include <cmath>

namespace fleetbench {
namespace {

double factor(const auto& factors, const auto& key) {
  const auto found = factors.find(key);
  return found == factors.end() ? 1.0 : found->second;
}

class Simulation {
 public:
  Simulation(const FleetModel& model, unsigned seed) : model_(model), random_(seed) {}

  RunData run() {
    RunData run;
    run.header = header_of(model_.nodes);
    run.steps = {host_step(0, "cpu_gemm", "FLOP/s"), host_step(1, "host_memory", "B/s"),
                 pairs_step(2)};
    const auto gemm = peculiarities(model_.between);
    const auto memory = peculiarities(model_.between);
    const auto sends = peculiarities(model_.between);
    const auto receives = peculiarities(model_.between);
    for (int pass = 0; pass < model_.passes; ++pass) {
      add_host(run, 0, pass, 168e9, gemm);
      add_host(run, 1, pass, 21e9, memory);
      add_pairs(run, pass, sends, receives);
    }
    run.end = clean_end();
    return run;
  }

 private:
  double noise(double sigma) {
    return sigma *
           (model_.tails == Tails::normal ? normal_(random_) : student_(random_) / std::sqrt(2));
  }

  std::vector<double> peculiarities(double sigma) {
    std::vector<double> result(static_cast<std::size_t>(model_.nodes));
    std::generate(result.begin(), result.end(), [&] { return noise(sigma); });
    return result;
  }

  void add_host(RunData& run, int step, int pass, double rate, const std::vector<double>& own) {
    for (int node = 0; node < model_.nodes; ++node) {
      const double slow = factor(model_.host, node) * factor(model_.passes_slow, pass);
      run.samples.push_back(
          sample_of(step, pass, node, {rate / slow * std::exp(own[node] + noise(model_.within))}));
    }
  }

  double slowness(int from, int to) const {
    const double a = factor(model_.sends, from);
    const double b = factor(model_.receives, to);
    return (model_.slower_end_limits ? std::max(a, b) : a * b) *
           factor(model_.links, std::pair(from, to));
  }

  void add_pairs(RunData& run, int pass, const std::vector<double>& sends,
                 const std::vector<double>& receives) {
    for (int a = 0; a < model_.nodes; ++a) {
      for (int b = 0; b < model_.nodes; ++b) {
        if (a == b) {
          continue;
        }
        SampleRecord sample = sample_of(2, pass, a, {});
        sample.peer = b;
        const double bandwidth = 950e6 / slowness(a, b) *
                                 std::exp(sends[a] + receives[b] + noise(model_.bandwidth_noise));
        sample.values = {bandwidth, std::nullopt};
        if (a < b) {
          sample.values[1] = 23e-6 * std::exp(noise(model_.latency_noise));
        }
        run.samples.push_back(std::move(sample));
      }
    }
  }

  const FleetModel& model_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> student_{4};
};

}  // namespace

RunData simulate(const FleetModel& model, unsigned seed) { return Simulation(model, seed).run(); }

RunHeader header_of(int nodes) {
  RunHeader header;
  header.run_id = "20240501-120000-abcd";
  header.created = "2024-05-01T12:00:00Z";
  header.version = "0.1.0";
  header.build = "test";
  header.suite = "quick";
  header.scenario = Json::object();
  for (int i = 0; i < nodes; ++i) {
    const std::string name = "node" + std::to_string(i);
    header.nodes.push_back({i, name, "boot-" + name, {i}, Json{{"cpu", {{"cores", 8}}}}});
  }
  return header;
}

StepRecord host_step(int index, const std::string& id, const std::string& unit) {
  StepRecord step;
  step.step = index;
  step.id = id;
  step.probe = id;
  step.params = Json::object();
  step.work = Json::object();
  step.metrics = {{"rate", unit, Better::higher, Layer::host, SubjectKind::node, false, true, "",
                   "Look at " + id + "."}};
  return step;
}

StepRecord pairs_step(int index) {
  StepRecord step;
  step.step = index;
  step.id = "mpi_pairs";
  step.probe = "mpi_pairs";
  step.params = Json::object();
  step.work = Json::object();
  step.metrics = {{"bandwidth", "B/s", Better::higher, Layer::network, SubjectKind::link, false,
                   true, "", "Look at the NIC."},
                  {"latency", "s", Better::lower, Layer::network, SubjectKind::link, true, true, "",
                   "Look at the route."}};
  return step;
}

SampleRecord sample_of(int step, int pass, int node, std::vector<std::optional<double>> values) {
  SampleRecord sample;
  sample.step = step;
  sample.pass = pass;
  sample.node = node;
  sample.values = std::move(values);
  return sample;
}

EndRecord clean_end() {
  EndRecord end;
  end.time = {10, 2, 7};
  end.waiting = {4, 0.002, 30e6};
  return end;
}

}  // namespace fleetbench
