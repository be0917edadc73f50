#include "harness/report/pair_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/report/median.hpp"

namespace fleetbench::report {
namespace {

std::string rail_of(const SampleRecord& sample) {
  if (sample.ends.empty()) {
    return sample.device;
  }
  const std::string& first = sample.ends.front().device;
  const bool is_rail =
      std::ranges::all_of(sample.ends, [&](const End& end) { return end.device == first; });
  return is_rail ? first : kAcrossRails;
}

using Samples = std::vector<const SampleRecord*>;

std::map<std::string, Samples> rails_of(const RunData& run, const StepRecord& step) {
  std::map<std::string, Samples> rails;
  for (const SampleRecord& sample : run.samples) {
    if (sample.step == step.step && sample.peer && !sample.confirms) {
      rails[rail_of(sample)].push_back(&sample);
    }
  }
  return rails;
}

std::vector<int> nodes_of(const Samples& samples) {
  std::vector<int> nodes;
  for (const SampleRecord* sample : samples) {
    nodes.push_back(sample->node);
    nodes.push_back(*sample->peer);
  }
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

// A sample that counts for a cell.
struct Entry {
  std::size_t from = 0;
  std::size_t to = 0;
  const SampleRecord* sample = nullptr;

  auto cell() const { return std::pair(from, to); }
};

std::vector<Entry> entries_of(const PairSamples& pairs) {
  const auto place_of = [&](int node) {
    return static_cast<std::size_t>(std::ranges::lower_bound(pairs.nodes, node) -
                                    pairs.nodes.begin());
  };
  std::vector<Entry> entries;
  for (const SampleRecord* sample : *pairs.samples) {
    const Entry entry{place_of(sample->node), place_of(*sample->peer), sample};
    entries.push_back(entry);
    if (pairs.metric->symmetric) {
      entries.push_back({entry.to, entry.from, sample});
    }
  }
  std::ranges::stable_sort(entries, {}, &Entry::cell);
  return entries;
}

}  // namespace

std::vector<PairSamples> samples_of_pairs(const RunData& run, const IsWanted& is_wanted) {
  std::vector<PairSamples> result;
  for (const StepRecord& step : run.steps) {
    std::vector<const MetricInfo*> metrics;
    for (const MetricInfo& metric : step.metrics) {
      if (metric.subject == SubjectKind::link && is_wanted(step, metric)) {
        metrics.push_back(&metric);
      }
    }
    if (metrics.empty()) {
      continue;
    }
    for (auto& [rail, of_rail] : rails_of(run, step)) {
      const std::vector<int> nodes = nodes_of(of_rail);
      const auto samples = std::make_shared<const Samples>(std::move(of_rail));
      for (const MetricInfo* metric : metrics) {
        result.push_back({&step, metric, rail, nodes, samples});
      }
    }
  }
  return result;
}

std::vector<PairCell> cells_of(const PairSamples& pairs) {
  const auto metric = static_cast<std::size_t>(pairs.metric - pairs.step->metrics.data());
  const std::vector<Entry> entries = entries_of(pairs);
  std::vector<PairCell> cells;
  std::vector<double> values;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i == 0 || entries[i].cell() != entries[i - 1].cell()) {
      cells.push_back({.from = entries[i].from, .to = entries[i].to});
      values.clear();
    }
    PairCell& cell = cells.back();
    const SampleRecord& sample = *entries[i].sample;
    cell.wrong = cell.wrong || sample.status == Status::wrong;
    cell.failed =
        cell.failed || sample.status == Status::failed || sample.status == Status::timeout;
    if (sample.status == Status::ok && metric < sample.values.size()) {
      const auto& value = sample.values[metric];
      if (value && std::isfinite(*value) && *value > 0) {
        values.push_back(*value);
      }
    }
    if (i + 1 == entries.size() || entries[i + 1].cell() != entries[i].cell()) {
      cell.value = median(values);
    }
  }
  return cells;
}

}  // namespace fleetbench::report
