#include "harness/detect/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/detect/confirm.hpp"

namespace fleetbench::detect {
namespace {

// A node; the two ends of a link, symmetric ones in one order only; the members of a group, sorted,
// none where it was the whole fleet. The metric tells which.
using Key = std::vector<int>;
using Cells = std::map<Key, std::map<int, std::vector<double>>>;  // subject → pass → values

Key key_of(const SampleRecord& sample, const MetricInfo& metric) {
  if (metric.subject == SubjectKind::group) {
    Key members = sample.group;
    std::ranges::sort(members);
    return members;
  }
  if (!sample.peer) {
    return {sample.node};
  }
  if (metric.symmetric) {
    return {std::min(sample.node, *sample.peer), std::max(sample.node, *sample.peer)};
  }
  return {sample.node, *sample.peer};
}

Subject group_subject(const RunData& run, const Key& key) {
  Subject subject;
  subject.kind = "group";
  for (const NodeInfo& node : run.header.nodes) {
    if (key.empty() || std::ranges::binary_search(key, node.index)) {
      subject.nodes.push_back(node.name);
    }
  }
  return subject;
}

Subject subject_of(const RunData& run, const Key& key, const MetricInfo& metric) {
  if (metric.subject == SubjectKind::group) {
    return group_subject(run, key);
  }
  Subject subject;
  const std::string& name = run.header.nodes.at(key.front()).name;
  if (key.size() < 2) {
    subject.kind = "node";
    subject.node = name;
    return subject;
  }
  subject.kind = "link";
  subject.a = name;
  subject.b = run.header.nodes.at(key.back()).name;
  subject.directed = !metric.symmetric;
  return subject;
}

bool usable(double value) { return std::isfinite(value) && value > 0; }

void collect(const StepRecord& step, const SampleRecord& sample, std::vector<Cells>& cells,
             Reduced& reduced) {
  for (std::size_t m = 0; m < step.metrics.size() && m < sample.values.size(); ++m) {
    if (!sample.values[m] || !step.metrics[m].judged) {
      continue;
    }
    const double value = *sample.values[m];
    if (usable(value)) {
      const MetricInfo& metric = step.metrics[m];
      cells[m][key_of(sample, metric)][sample.pass].push_back(to_x(value, metric.better));
      continue;
    }
    reduced.troubles.push_back(
        {sample.step, sample.slot, sample.pass, sample.node, sample.peer, sample.group,
         Status::failed,
         fmt::format("its {} of {} is not a positive number", step.metrics[m].name, value)});
  }
}

Table table_of(const RunData& run, const StepRecord& step, const MetricInfo& metric,
               const Cells& cells) {
  Table table;
  table.step = step.step;
  table.step_id = step.id;
  table.metric = full_name(step, metric);
  table.info = metric;
  std::set<int> passes;
  for (const auto& [key, by_pass] : cells) {
    for (const auto& [pass, values] : by_pass) {
      passes.insert(pass);
    }
  }
  table.passes.assign(passes.begin(), passes.end());
  for (const auto& [key, by_pass] : cells) {
    Row row;
    row.subject = subject_of(run, key, metric);
    if (metric.subject != SubjectKind::group) {
      row.node = key.front();
    }
    if (metric.subject != SubjectKind::group && key.size() > 1) {
      row.peer = key.back();
      table.role = Role::link;
    }
    for (const int pass : table.passes) {
      const auto found = by_pass.find(pass);
      row.x.push_back(found == by_pass.end() ? std::nullopt : std::optional(median(found->second)));
    }
    table.rows.push_back(std::move(row));
  }
  remove_drift(table);
  return table;
}

}  // namespace

std::string full_name(const StepRecord& step, const MetricInfo& metric) {
  return metric.name.empty() ? step.id : step.id + "." + metric.name;
}

Reduced reduce(const RunData& run) {
  Reduced reduced;
  std::vector<std::vector<Cells>> cells;  // by step, by metric
  for (const StepRecord& step : run.steps) {
    cells.emplace_back(step.metrics.size());
  }
  for (const SampleRecord& sample : run.samples) {
    if (sample.status == Status::ok && sample.confirms) {
      continue;  // for its suspect alone, see confirm.hpp
    }
    if (sample.status == Status::ok) {
      collect(run.steps.at(sample.step), sample, cells.at(sample.step), reduced);
    } else {
      reduced.troubles.push_back({sample.step, sample.slot, occasion_of(sample), sample.node,
                                  sample.peer, sample.group, sample.status, sample.reason});
    }
  }
  for (const StepRecord& step : run.steps) {
    for (std::size_t m = 0; m < step.metrics.size(); ++m) {
      if (!step.metrics[m].judged) {
        continue;
      }
      reduced.tables.push_back(table_of(run, step, step.metrics[m], cells[step.step][m]));
    }
  }
  return reduced;
}

}  // namespace fleetbench::detect
