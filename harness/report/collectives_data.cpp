#include "harness/report/collectives_data.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "harness/report/median.hpp"
#include "results-schema/together.hpp"

namespace fleetbench::report {
namespace {

// More than any machine has: somebody tampered with it.
constexpr double kMostBytes = 1e15;

// A metric of a step that is the bus bandwidth of a collective.
struct Column {
  std::size_t metric = 0;
  const CollectiveRule* rule = nullptr;
};

std::vector<Column> columns_of(const StepRecord& step) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < step.metrics.size(); ++i) {
    const std::string& name = step.metrics[i].name;
    const auto end = name.find(".busbw.");
    const auto* rule =
        end == std::string::npos ? nullptr : find_collective_rule(name.substr(0, end));
    if (rule != nullptr) {
      columns.push_back({i, rule});
    }
  }
  return columns;
}

// A number at a position of a list in a sample's detail; none where there is no such thing, as in
// journals that somebody else wrote.
std::optional<double> number_at(const Json& detail, const char* list, std::size_t position) {
  const auto found = detail.is_object() ? detail.find(list) : detail.end();
  if (found == detail.end() || !found->is_array() || position >= found->size() ||
      !found->at(position).is_number()) {
    return std::nullopt;
  }
  return found->at(position).get<double>();
}

std::optional<std::size_t> members_of(const SampleRecord& sample) {
  const Json& detail = sample.detail;
  if (!detail.is_object() || !detail.contains("members") ||
      !detail.at("members").is_number_unsigned() || detail.at("members").get<std::size_t>() < 2) {
    return std::nullopt;
  }
  return detail.at("members").get<std::size_t>();
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The samples of one group in one step.
class GroupSamples {
 public:
  GroupSamples(Together together, std::size_t members)
      : together_(std::move(together)), members_(members) {}

  bool is(const Together& together, std::size_t members) const {
    return together_ == together && members_ == members;
  }
  void add(const SampleRecord& sample) {
    samples_.push_back(&sample);
    seen_[sample.node].insert(sample.device);
  }
  std::vector<End> ranks() const {
    std::vector<int> nodes = together_.group;
    if (nodes.empty()) {
      std::ranges::transform(seen_, std::back_inserter(nodes),
                             [](const auto& seen) { return seen.first; });
    }
    std::vector<End> ranks;
    for (const int node : nodes) {
      const auto found = seen_.find(node);
      for (const std::string& device :
           found == seen_.end() ? std::set<std::string>{""} : found->second) {
        ranks.push_back({node, device});
      }
    }
    return ranks;
  }
  std::size_t members() const { return members_; }

  std::size_t passes() const {
    std::set<int> passes;
    for (const SampleRecord* sample : samples_) {
      if (sample->status == Status::ok) {
        passes.insert(sample->pass);
      }
    }
    return passes.size();
  }

  CollectiveRow row(const Column& column) const {
    CollectiveRow row;
    std::map<int, std::vector<double>> times_s;  // by slot, over the ranks
    for (const SampleRecord* sample : samples_) {
      const auto bytes = number_at(sample->detail, "bytes", column.metric);
      if (!bytes || *bytes < 1 || *bytes > kMostBytes) {
        continue;
      }
      row.bytes = static_cast<std::size_t>(*bytes);
      const auto time_s = number_at(sample->detail, "time_s", column.metric);
      if (sample->status == Status::ok && time_s && *time_s > 0) {
        times_s[sample->slot].push_back(*time_s);
      }
      row.wrong =
          std::max(row.wrong, number_at(sample->detail, "wrong", column.metric).value_or(0));
    }
    std::vector<double> means_s;
    for (const auto& [slot, of_ranks] : times_s) {
      means_s.push_back(mean(of_ranks));
    }
    row.time_s = median(std::move(means_s));
    row.count = column.rule->count(row.bytes, members_);
    return row;
  }

 private:
  Together together_;
  std::size_t members_;
  std::vector<const SampleRecord*> samples_;
  std::map<int, std::set<std::string>> seen_;  // devices, by node
};

std::vector<GroupSamples> groups_of(const RunData& run, const StepRecord& step) {
  std::vector<GroupSamples> groups;
  for (const SampleRecord& sample : run.samples) {
    const bool counts = sample.step == step.step && !sample.confirms;
    const auto members = counts ? members_of(sample) : std::nullopt;
    if (!members) {
      continue;
    }
    const Together together = together_of(step, sample);
    auto group = std::ranges::find_if(
        groups, [&](const GroupSamples& known) { return known.is(together, *members); });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), GroupSamples(together, *members));
    }
    group->add(sample);
  }
  return groups;
}

void add_sweeps(const StepRecord& step, const GroupSamples& group,
                const std::vector<Column>& columns, std::vector<CollectiveSweepData>& sweeps) {
  const std::size_t first = sweeps.size();
  for (const Column& column : columns) {
    if (sweeps.size() == first || sweeps.back().rule != column.rule) {
      sweeps.push_back({&step, column.rule, group.ranks(), group.members(), group.passes(), {}});
    }
    const CollectiveRow row = group.row(column);
    if (row.bytes > 0) {
      sweeps.back().rows.push_back(row);
    }
  }
}

}  // namespace

std::vector<CollectiveSweepData> collective_sweeps(const RunData& run) {
  std::vector<CollectiveSweepData> sweeps;
  for (const StepRecord& step : run.steps) {
    const std::vector<Column> columns = columns_of(step);
    if (columns.empty()) {
      continue;
    }
    for (const GroupSamples& group : groups_of(run, step)) {
      add_sweeps(step, group, columns, sweeps);
    }
  }
  return sweeps;
}

}  // namespace fleetbench::report
