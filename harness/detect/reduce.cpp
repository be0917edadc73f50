#include "harness/detect/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <tuple>

#include "harness/detect/confirm.hpp"
#include "harness/detect/parallel.hpp"
#include "harness/detect/robust.hpp"
#include "harness/detect/subject_numbers.hpp"

namespace fleetbench::detect {
namespace {

bool usable(double value) { return std::isfinite(value) && value > 0; }

// Where a sample's values go in the tables of one kind of subject.
struct Place {
  Row row;
  int pass = 0;
  const SampleRecord* sample = nullptr;

  auto key() const { return std::tuple(row.node, row.peer, row.device, row.group, row.ends, pass); }
  auto subject() const { return std::tuple(row.node, row.peer, row.device, row.group, row.ends); }
};

Row row_of(const SampleRecord& sample, const MetricInfo& metric, const Numbers& numbers) {
  Row row;
  switch (metric.subject) {
    case SubjectKind::group:
      row.group = group_of(sample, numbers);
      row.ends = sample.ends.empty() ? -1 : numbers.ends.at(ends_of(sample, numbers));
      return row;
    case SubjectKind::device:
      row.device = sample.device.empty() ? -1 : numbers.devices.at(sample.device);
      break;
    case SubjectKind::link:
      row.peer = sample.peer.value_or(-1);
      row.ends = sample.ends.empty() ? -1 : numbers.ends.at(ends_of(sample, numbers));
      break;
    case SubjectKind::node:
      break;
  }
  row.node = sample.node;
  if (metric.symmetric && row.peer >= 0 && row.peer < row.node) {
    std::swap(row.node, row.peer);
  }
  return row;
}

// The good samples of a step by subject and pass.
std::vector<Place> places_of(const std::vector<const SampleRecord*>& samples,
                             const MetricInfo& metric, const Numbers& numbers) {
  std::vector<Place> places;
  places.reserve(samples.size());
  for (const SampleRecord* sample : samples) {
    places.push_back({row_of(*sample, metric, numbers), sample->pass, sample});
  }
  std::ranges::stable_sort(places, {}, &Place::key);
  return places;
}

std::vector<int> passes_of(const std::vector<Place>& places, std::size_t metric) {
  std::vector<int> passes;
  for (const Place& place : places) {
    if (place.sample->values[metric] &&
        (passes.empty() || !std::ranges::binary_search(passes, place.pass))) {
      passes.insert(std::ranges::lower_bound(passes, place.pass), place.pass);
    }
  }
  return passes;
}

// Fills rows from places, which are sorted: those of one subject and pass lie side by side, and
// where there are several, their median counts.
template <typename Transform>
void fill(Table& table, const std::vector<Place>& places, std::size_t metric,
          const Transform& transform) {
  table.passes = passes_of(places, metric);
  std::vector<double> values;
  for (std::size_t i = 0; i < places.size();) {
    const std::size_t first = i;
    values.clear();
    for (; i < places.size() && places[i].key() == places[first].key(); ++i) {
      if (const auto& value = places[i].sample->values[metric]) {
        if (const double x = transform(*value); !std::isnan(x)) {
          values.push_back(x);
        }
      }
    }
    if (values.empty()) {
      continue;
    }
    const Row& row = places[first].row;
    const bool is_new = table.rows.empty() ||
                        Place{table.rows.back(), 0, nullptr}.subject() != places[first].subject();
    if (is_new) {
      table.add_row(row);
    }
    const auto pass = std::ranges::lower_bound(table.passes, places[first].pass);
    table.values(table.rows.size() - 1)[pass - table.passes.begin()] =
        values.size() == 1 ? values.front() : median(values);
  }
}

Table begin_table(const StepRecord& step, const MetricInfo& metric) {
  Table table;
  table.step = step.step;
  table.step_id = step.id.empty() ? full_name(step, metric) : step.id;
  table.metric = full_name(step, metric);
  table.info = metric;
  table.role = metric.subject == SubjectKind::link ? Role::link : Role::own;
  return table;
}

void note_unusable(const StepRecord& step, const SampleRecord& sample, Reduced& reduced) {
  for (std::size_t m = 0; m < step.metrics.size() && m < sample.values.size(); ++m) {
    if (step.metrics[m].judged && sample.values[m] && !usable(*sample.values[m])) {
      reduced.troubles.push_back({sample.step, sample.slot, sample.pass, sample.node, sample.device,
                                  sample.peer, sample.group, Status::failed,
                                  fmt::format("its {} of {} is not a positive number",
                                              step.metrics[m].name, *sample.values[m]),
                                  step.id.empty() ? step.metrics[m].name : ""});
    }
  }
}

// Metrics of a step that sort its samples in the same way share the work of sorting them.
using Sorting = std::pair<SubjectKind, bool>;

void add_tables(const StepRecord& step, const std::vector<const SampleRecord*>& samples,
                const Numbers& numbers, Reduced& reduced) {
  std::map<Sorting, std::vector<Place>> sorted;
  std::vector<std::pair<std::size_t, Table*>> work;
  for (std::size_t m = 0; m < step.metrics.size(); ++m) {
    const MetricInfo& metric = step.metrics[m];
    if (!metric.judged && !metric.covariate) {
      continue;
    }
    const Sorting sorting{metric.subject, metric.symmetric};
    if (!sorted.contains(sorting)) {
      sorted[sorting] = places_of(samples, metric, numbers);
    }
    auto& tables = metric.judged ? reduced.tables : reduced.covariates;
    tables.push_back(begin_table(step, metric));
    work.emplace_back(m, &tables.back());
  }
  for_each_index(work.size(), [&](std::size_t i) {
    const auto [m, table] = work[i];
    const MetricInfo& metric = step.metrics[m];
    const auto& places = sorted.at({metric.subject, metric.symmetric});
    if (metric.covariate) {
      fill(*table, places, m, [](double value) { return std::isfinite(value) ? value : kAbsent; });
      remove_drift(*table);
    } else {
      fill(*table, places, m,
           [&](double value) { return usable(value) ? to_x(value, metric.better) : kAbsent; });
      remove_drift(*table);
    }
  });
}

}  // namespace

std::string full_name(const StepRecord& step, const MetricInfo& metric) {
  return metric.name.empty() ? step.id
         : step.id.empty()   ? metric.name
                             : step.id + "." + metric.name;
}

Reduced reduce(const RunData& run) {
  Reduced reduced;
  for (const NodeInfo& node : run.header.nodes) {
    reduced.names.nodes.push_back(node.name);
  }
  Numbers numbers;
  number_subjects(run, reduced.names, numbers);
  number_cohorts(run, reduced.names);
  std::vector<std::vector<const SampleRecord*>> good(run.steps.size());
  for (const SampleRecord& sample : run.samples) {
    if (sample.status == Status::ok && sample.confirms) {
      continue;  // for its suspect alone, see confirm.hpp
    }
    if (sample.status == Status::ok) {
      good.at(sample.step).push_back(&sample);
      note_unusable(run.steps.at(sample.step), sample, reduced);
    } else {
      const bool of_metric = sample.detail.is_object() && sample.detail.contains("metric") &&
                             sample.detail["metric"].is_string();
      reduced.troubles.push_back({sample.step, sample.slot, occasion_of(sample), sample.node,
                                  sample.device, sample.peer, sample.group, sample.status,
                                  sample.reason,
                                  of_metric ? sample.detail["metric"].get<std::string>() : ""});
    }
  }
  std::size_t tables = 0;
  for (const StepRecord& step : run.steps) {
    tables += step.metrics.size();
  }
  reduced.tables.reserve(tables);  // threads hold pointers into them
  reduced.covariates.reserve(tables);
  for (const StepRecord& step : run.steps) {
    add_tables(step, good[step.step], numbers, reduced);
  }
  return reduced;
}

}  // namespace fleetbench::detect
