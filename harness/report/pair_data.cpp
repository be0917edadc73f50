#include "harness/report/pair_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace fleetbench::report {
namespace {

// The samples of pairs of one step and rail.
struct RailSamples {
  std::vector<const SampleRecord*> samples;
  std::set<int> nodes;
};

bool has_links(const StepRecord& step) {
  return std::ranges::any_of(
      step.metrics, [](const MetricInfo& metric) { return metric.subject == SubjectKind::link; });
}

std::string rail_of(const SampleRecord& sample) {
  if (sample.ends.empty()) {
    return sample.device;
  }
  const std::string& first = sample.ends.front().device;
  const bool is_rail =
      std::ranges::all_of(sample.ends, [&](const End& end) { return end.device == first; });
  return is_rail ? first : kAcrossRails;
}

std::map<std::string, RailSamples> rails_of(const RunData& run, const StepRecord& step) {
  std::map<std::string, RailSamples> rails;
  for (const SampleRecord& sample : run.samples) {
    if (sample.step == step.step && sample.peer && !sample.confirms) {
      RailSamples& rail = rails[rail_of(sample)];
      rail.samples.push_back(&sample);
      rail.nodes.insert({sample.node, *sample.peer});
    }
  }
  return rails;
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

class Filling {
 public:
  Filling(const StepRecord& step, std::size_t metric, const std::string& rail,
          const RailSamples& samples)
      : metric_(metric) {
    matrix_.step = &step;
    matrix_.metric = &step.metrics[metric];
    matrix_.rail = rail;
    matrix_.nodes.assign(samples.nodes.begin(), samples.nodes.end());
    const std::size_t nodes = matrix_.nodes.size();
    matrix_.cells.assign(nodes, std::vector<PairCell>(nodes));
    values_.assign(nodes, std::vector<std::vector<double>>(nodes));
    for (const SampleRecord* sample : samples.samples) {
      add(*sample, place_of(sample->node), place_of(*sample->peer));
    }
  }

  PairMatrix result() {
    for (std::size_t from = 0; from < values_.size(); ++from) {
      for (std::size_t to = 0; to < values_.size(); ++to) {
        matrix_.cells[from][to].value = median(std::move(values_[from][to]));
      }
    }
    return std::move(matrix_);
  }

 private:
  std::size_t place_of(int node) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(matrix_.nodes, node) -
                                    matrix_.nodes.begin());
  }

  void add(const SampleRecord& sample, std::size_t from, std::size_t to) {
    put(sample, from, to);
    if (matrix_.metric->symmetric) {
      put(sample, to, from);
    }
  }

  void put(const SampleRecord& sample, std::size_t from, std::size_t to) {
    PairCell& cell = matrix_.cells[from][to];
    cell.wrong = cell.wrong || sample.status == Status::wrong;
    cell.failed =
        cell.failed || sample.status == Status::failed || sample.status == Status::timeout;
    if (sample.status == Status::ok && metric_ < sample.values.size()) {
      const auto& value = sample.values[metric_];
      if (value && std::isfinite(*value) && *value > 0) {
        values_[from][to].push_back(*value);
      }
    }
  }

  std::size_t metric_;
  PairMatrix matrix_;
  std::vector<std::vector<std::vector<double>>> values_;
};

}  // namespace

std::vector<PairMatrix> pair_matrices(const RunData& run) {
  std::vector<PairMatrix> matrices;
  for (const StepRecord& step : run.steps) {
    if (!has_links(step)) {
      continue;
    }
    for (const auto& [rail, samples] : rails_of(run, step)) {
      for (std::size_t metric = 0; metric < step.metrics.size(); ++metric) {
        if (step.metrics[metric].subject == SubjectKind::link) {
          matrices.push_back(Filling(step, metric, rail, samples).result());
        }
      }
    }
  }
  return matrices;
}

}  // namespace fleetbench::report
