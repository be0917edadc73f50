// assemble(): rows of other tools' files → a run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <unordered_map>

#include "harness/record/metric_facts.hpp"
#include "harness/record/pass_numbers.hpp"
#include "harness/record/sample_rows.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

std::vector<NodeInfo> nodes_of(const SampleRows& rows, std::vector<int>& place) {
  // In the order of names: what is found must not depend on the order of rows.
  std::vector<int> order(static_cast<std::size_t>(rows.nodes.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {},
                    [&rows](int node) -> const std::string& { return rows.nodes.name(node); });
  std::vector<NodeInfo> nodes(order.size());
  place.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto node = static_cast<std::size_t>(order[i]);
    nodes[i].index = static_cast<int>(i);
    nodes[i].name = rows.nodes.name(order[i]);
    nodes[i].cohort = node < rows.cohorts.size() ? rows.cohorts[node] : "";
    place[node] = static_cast<int>(i);
  }
  return nodes;
}

// Where each pair of a link metric stands in one order only, its value is that of both.
std::vector<bool> symmetric_metrics(const SampleRows& rows) {
  std::set<std::array<int, 3>> directed;
  for (const SampleRow& row : rows.rows) {
    if (row.status == Status::ok && row.peer != kNone) {
      directed.insert({row.metric, row.node, row.peer});
    }
  }
  std::vector<bool> symmetric(rows.metrics.size(), true);
  for (const auto& [metric, a, b] : directed) {
    if (directed.contains({metric, b, a})) {
      symmetric[static_cast<std::size_t>(metric)] = false;
    }
  }
  return symmetric;
}

class Assembly {
 public:
  Assembly(SampleRows rows, const ImportLimits& limits) : rows_(std::move(rows)), limits_(limits) {}

  ImportedSamples run() && {
    const std::vector<SubjectKind> kinds = settle_metrics(rows_);
    const std::vector<int> passes = number_passes(rows_);
    run_.imported = true;
    run_.header.nodes = nodes_of(rows_, place_of_node_);
    run_.header.run_id = title_of(rows_.files);
    run_.end = EndRecord{};
    add_steps(kinds);
    make_room(passes);
    for (std::size_t i = 0; i < rows_.rows.size(); ++i) {
      add(i, passes[i]);
    }
    if (!std::ranges::is_sorted(run_.samples, {}, &SampleRecord::slot)) {
      std::ranges::stable_sort(run_.samples, {}, &SampleRecord::slot);
    }
    for (RowOmission& omission : rows_.omissions) {
      run_.omissions.push_back({rows_.steps.name(omission.step),
                                place_of_node_[static_cast<std::size_t>(omission.node)],
                                std::move(omission.reason)});
    }
    return std::move(*this).with_problems();
  }

 private:
  void add_steps(const std::vector<SubjectKind>& kinds) {
    for (int step = 0; step < rows_.steps.size(); ++step) {
      StepRecord record;
      record.step = step;
      record.id = rows_.steps.name(step);
      record.probe = "imported";
      record.params = Json::object();
      record.work = Json::object();
      run_.steps.push_back(std::move(record));
    }
    std::vector<bool> used(rows_.metrics.size(), false);
    for (const SampleRow& row : rows_.rows) {
      if (row.status == Status::ok) {
        used[static_cast<std::size_t>(row.metric)] = true;
      }
    }
    const std::vector<bool> symmetric = symmetric_metrics(rows_);
    place_of_metric_.resize(rows_.metrics.size(), 0);
    for (std::size_t m = 0; m < rows_.metrics.size(); ++m) {
      if (used[m]) {
        add_metric(m, kinds[m], kinds[m] == SubjectKind::link && symmetric[m]);
      }
    }
  }

  void add_metric(std::size_t number, SubjectKind kind, bool symmetric) {
    const ImportedMetric& metric = rows_.metrics[number];
    std::vector<MetricInfo>& metrics = run_.steps[static_cast<std::size_t>(metric.step)].metrics;
    place_of_metric_[number] = metrics.size();
    MetricInfo info;
    info.name = metric.name;
    info.unit = metric.unit;
    info.better = metric.better.value_or(Better::higher);
    info.layer = metric.layer.value();
    info.subject = kind;
    info.symmetric = symmetric;
    info.judged = metric.judged && !metric.covariate;
    info.covariate = metric.covariate;
    metrics.push_back(std::move(info));
  }

  static RowKey key_of(const SampleRow& row, int pass) {
    return {pass, row.step, row.node, row.device, row.peer};
  }

  // Samples are large, and rows of one mostly stand together.
  void make_room(const std::vector<int>& passes) {
    std::size_t runs = 0;
    RowKey last{kNone};
    for (std::size_t i = 0; i < passes.size(); ++i) {
      const RowKey key = key_of(rows_.rows[i], passes[i]);
      runs += key != last ? 1 : 0;
      last = key;
    }
    runs = std::min(runs, limits_.samples);
    run_.samples.reserve(runs);
    first_value_.reserve(runs);
    sample_of_.reserve(runs);
  }

  void add(std::size_t index, int pass) {
    const SampleRow& row = rows_.rows[index];
    if (row.status != Status::ok) {
      add_failure(row, pass);
      return;
    }
    const auto [place, is_new] = sample_of_.try_emplace(key_of(row, pass), 0);
    if (is_new) {
      place->second = add_sample(row, pass);
    }
    const auto metric = place_of_metric_[static_cast<std::size_t>(row.metric)];
    int& taken_by = row_of_value_[first_value_[place->second] + metric];
    if (taken_by == kNone) {
      taken_by = static_cast<int>(index);
      run_.samples[place->second].values[metric] = row.value;
    } else {
      add_again(row, rows_.rows[static_cast<std::size_t>(taken_by)], pass);
    }
  }

  // A second value of the same metric for the same subject and pass.
  void add_again(const SampleRow& row, const SampleRow& before, int pass) {
    const std::string& metric = rows_.metrics[static_cast<std::size_t>(row.metric)].name;
    const std::string& node = rows_.nodes.name(row.node);
    const std::string where =
        row.file == before.file
            ? fmt::format("line {}", before.line)
            : fmt::format("{}:{}", rows_.files[static_cast<std::size_t>(before.file)], before.line);
    if (row.value == before.value) {
      rows_.warn("duplicate", row.file, row.line,
                 fmt::format("{} on {}: the same as {}; it counts once", metric, node, where));
      return;
    }
    rows_.warn("conflict", row.file, row.line,
               fmt::format("{} on {}: {} here and {} on {} for the same pass; both are kept",
                           metric, node, row.value, before.value, where));
    const std::size_t sample = add_sample(row, pass);
    run_.samples[sample].values[place_of_metric_[static_cast<std::size_t>(row.metric)]] = row.value;
  }

  std::size_t add_sample(const SampleRow& row, int pass) {
    if (run_.samples.size() >= limits_.samples) {
      throw InputError(
          fmt::format("{}: more than {} samples (subjects, times passes, times steps); give files "
                      "of fewer passes or steps, one after the other",
                      run_.header.run_id, limits_.samples));
    }
    SampleRecord& sample = run_.samples.emplace_back();
    sample.step = row.step;
    sample.pass = pass;
    sample.slot = pass;
    sample.node = place_of_node_[static_cast<std::size_t>(row.node)];
    sample.device = row.device == kNone ? "" : rows_.devices.name(row.device);
    if (row.peer != kNone) {
      sample.peer = place_of_node_[static_cast<std::size_t>(row.peer)];
    }
    first_value_.push_back(row_of_value_.size());
    if (row.status == Status::ok) {
      const auto metrics = run_.steps[static_cast<std::size_t>(row.step)].metrics.size();
      if (row_of_value_.size() + metrics > limits_.places) {
        throw InputError(
            fmt::format("{}: too many different metrics for so many subjects and passes; give "
                        "files of fewer metrics, one after the other",
                        run_.header.run_id));
      }
      sample.values.resize(metrics);
      row_of_value_.resize(row_of_value_.size() + metrics, kNone);
    }
    return run_.samples.size() - 1;
  }

  void add_failure(const SampleRow& row, int pass) {
    const bool given = row.pass != kNoPass;
    if (given &&
        !failures_.insert({pass, row.step, row.metric, row.node, row.device, row.peer}).second) {
      rows_.warn("duplicate", row.file, row.line,
                 fmt::format("{}: a second failure of the same; it counts once",
                             rows_.nodes.name(row.node)));
      return;
    }
    SampleRecord& sample = run_.samples[add_sample(row, pass)];
    sample.status = row.status;
    sample.reason = row.reason == kNone ? "" : rows_.reasons[static_cast<std::size_t>(row.reason)];
    if (row.metric != kNone) {
      sample.detail = {{"metric", rows_.metrics[static_cast<std::size_t>(row.metric)].name}};
    }
  }

  ImportedSamples with_problems() && {
    ImportedSamples result;
    result.run = std::move(run_);
    result.errors = in_order(std::move(rows_.errors), rows_.files);
    result.warnings = in_order(std::move(rows_.warnings), rows_.files);
    for (const Problem& error : result.errors) {
      result.run.damage.push_back(error.text());
    }
    return result;
  }

  SampleRows rows_;
  ImportLimits limits_;
  RunData run_;
  std::vector<int> place_of_node_;
  std::vector<std::size_t> place_of_metric_;
  std::unordered_map<RowKey, std::size_t, RowKeyHash> sample_of_;  // pass, step, node, device, peer
  std::vector<std::size_t> first_value_;                           // by sample, in:
  std::vector<int> row_of_value_;
  std::set<std::array<int, 6>> failures_;
};

}  // namespace

ImportedSamples assemble(SampleRows rows, const ImportLimits& limits) {
  return Assembly(std::move(rows), limits).run();
}

}  // namespace fleetbench::record
