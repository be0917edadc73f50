// Writes the run directory of a large fleet, as `fleetbench run` would have left it: for measuring
// how long `fleetbench analyze` takes.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "harness/record/recorder.hpp"
#include "results-schema/check.hpp"
#include "tests/bench/big_inventory.hpp"

namespace fleetbench::bench {
namespace {

constexpr int kMetricsOfStep = 10;
constexpr double kBetween = 0.01;  // of nodes, log scale
constexpr double kWithin = 0.005;  // from pass to pass

struct Size {
  int nodes = 0;
  int metrics = 0;
  int passes = 0;
  unsigned seed = 1;
  bool evidence = false;  // with each sample, as the worker tells it
};

RunHeader header_of(const Size& size) {
  RunHeader header;
  header.run_id = fmt::format("big-{}", size.nodes);
  header.created = "2024-05-01T12:00:00Z";
  header.version = "0.1.0";
  header.build = "bench";
  header.suite = "big";
  header.seed = size.seed;
  header.scenario = Json::object();
  for (int i = 0; i < size.nodes; ++i) {
    NodeInfo node;
    node.index = i;
    node.name = fmt::format("gpu{:05}", i);
    node.boot_id = fmt::format("843d2e9e-2fd7-49d7-bb8d-{:012x}", i);
    node.ranks = {i};
    header.nodes.push_back(std::move(node));
  }
  return header;
}

StepRecord step_of(int index, int metrics) {
  constexpr Layer kLayers[] = {Layer::host, Layer::storage, Layer::input, Layer::copy,
                               Layer::compute};
  StepRecord step;
  step.step = index;
  step.id = fmt::format("step{:03}", index);
  step.probe = step.id;
  step.params = Json::object();
  step.work = Json::object();
  for (int m = 0; m < metrics; ++m) {
    step.metrics.push_back({.name = fmt::format("rate{}", m),
                            .unit = "B/s",
                            .layer = kLayers[index % 5],
                            .description = "a rate",
                            .next_check = "Compare with a healthy node."});
  }
  return step;
}

class BigRun {
 public:
  BigRun(const std::string& path, const Size& size)
      : size_(size),
        random_(size.seed),
        recorder_(record::RunDirectory::create(path), header_of(size)) {
    for (int node = 0; node < size_.nodes; ++node) {
      recorder_.set_inventory(node, big_inventory(node));
    }
    recorder_.rewrite_header();
  }

  void write() {
    record::JournalWriter journal(recorder_.directory().path() / "samples", "big");
    for (int step = 0; kMetricsOfStep * step < size_.metrics; ++step) {
      steps_.push_back(
          step_of(step, std::min(kMetricsOfStep, size_.metrics - kMetricsOfStep * step)));
      journal.append(steps_.back());
    }
    own_.resize(static_cast<std::size_t>(size_.nodes) * size_.metrics);
    for (double& own : own_) {
      own = std::exp(kBetween * normal_(random_));
    }
    int slot = 0;
    for (int pass = 0; pass < size_.passes; ++pass) {
      for (const StepRecord& step : steps_) {
        write_slot(journal, step, pass, slot++);
      }
    }
    EndRecord end;
    end.time = {3600, 100, 3400};
    end.waiting = {size_.nodes, 0.001, 30e6};
    journal.append(end);
    journal.sync();
    std::filesystem::rename(recorder_.directory().path() / "samples",
                            recorder_.directory().journal());
  }

 private:
  // Two nodes are slow: one in one layer by 15 %, one everywhere by 8 %.
  double slowness(int node, const StepRecord& step) const {
    if (node == size_.nodes / 3 && step.metrics[0].layer == Layer::compute) {
      return 1.15;
    }
    return node == size_.nodes / 2 ? 1.08 : 1;
  }

  void write_slot(record::JournalWriter& journal, const StepRecord& step, int pass, int slot) {
    for (int node = 0; node < size_.nodes; ++node) {
      SampleRecord sample;
      sample.slot = slot;
      sample.step = step.step;
      sample.pass = pass;
      sample.node = node;
      sample.start_s = 10.0 * slot + 1e-6 * node;
      sample.prepare_s = 0.1 + 1e-6 * node;
      sample.measure_s = 1 + 1e-6 * node;
      for (std::size_t m = 0; m < step.metrics.size(); ++m) {
        const std::size_t metric = kMetricsOfStep * static_cast<std::size_t>(step.step) + m;
        const double own = own_[static_cast<std::size_t>(node) * size_.metrics + metric];
        sample.values.emplace_back(1e9 * (1 + static_cast<double>(metric)) * own *
                                   std::exp(kWithin * normal_(random_)) / slowness(node, step));
      }
      if (size_.evidence) {
        sample.detail = evidence();
      }
      journal.append(sample);
    }
  }

  Json evidence() {
    const double load = std::exp(kWithin * normal_(random_));
    Json range = {{"min", 2.0e9 * load}, {"median", 2.1e9 * load}, {"max", 2.2e9 * load}};
    return {{"resources", {{"cpu_s", 1.5 * load}, {"max_resident_bytes", 5e7 * load}}},
            {"evidence",
             {{"cpu_hz", range},
              {"temperature_c", range},
              {"pressure",
               {{"cpu_some", 0.1 * load}, {"io_some", 0.1 * load}, {"memory_some", 0.1 * load}}},
              {"rises", {{"nic_drops", 0}, {"pcie_correctable", 0}, {"tcp_retransmits", 3}}}}}};
  }

  Size size_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  record::Recorder recorder_;
  std::vector<StepRecord> steps_;
  std::vector<double> own_;  // what a node is by nature, by node and metric
};

int number(const std::string& name, const std::string& text, int lowest, int highest) {
  int value = 0;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, value).ptr != end || value < lowest || value > highest) {
    throw InputError(
        fmt::format("{}: \"{}\" is no number from {} to {}", name, text, lowest, highest));
  }
  return value;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 4 || arguments.size() > 6) {
    fmt::print(stderr, "Usage: big_run DIR NODES METRICS PASSES [SEED [evidence]]\n");
    return 64;
  }
  Size size;
  size.nodes = number("NODES", arguments[1], 1, 100000);
  size.metrics = number("METRICS", arguments[2], 1, 10000);
  size.passes = number("PASSES", arguments[3], 1, 1000);
  size.seed = arguments.size() > 4 ? number("SEED", arguments[4], 0, 1 << 30) : 1;
  size.evidence = arguments.size() > 5 && arguments[5] == "evidence";
  BigRun(arguments[0], size).write();
  return 0;
}

}  // namespace
}  // namespace fleetbench::bench

int main(int count, char** values) {
  try {
    return fleetbench::bench::run({values + 1, values + count});
  } catch (const std::exception& error) {
    fmt::print(stderr, "big_run: {}\n", error.what());
    return 1;
  }
}
