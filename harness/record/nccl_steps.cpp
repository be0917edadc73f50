#include "harness/record/nccl_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "harness/record/nccl_collective.hpp"

namespace fleetbench::record {
namespace {

// What tells rows of one run apart. Parts that all rows of a step have in common are left out of
// names.
using RowKey = std::tuple<std::uint64_t, std::string, std::string, int>;

RowKey key_of(const NcclRow& row) {
  return {row.size_bytes, row.type, row.redop, row.root.value_or(-1)};
}

Layer layer_of(const NcclRun& run) {
  const bool one_node = std::ranges::all_of(
      run.ranks, [&run](const NcclRank& rank) { return rank.node == run.ranks.front().node; });
  return one_node ? Layer::fabric : Layer::network;
}

SubjectKind kind_of(const NcclRun& run) {
  std::set<std::string> nodes;
  for (const NcclRank& rank : run.ranks) {
    nodes.insert(rank.node);
  }
  return nodes.size() == 1   ? SubjectKind::node
         : nodes.size() == 2 ? SubjectKind::link
                             : SubjectKind::group;
}

// One step on its way.
struct Draft {
  std::vector<std::size_t> runs;
  std::set<RowKey> rows;
};

std::string row_name(const RowKey& key, const std::set<RowKey>& all) {
  const auto& [size, type, redop, root] = key;
  std::string name = fmt::format("{}", size);
  const auto differs = [&all](auto part) {
    return std::ranges::any_of(
        all, [&](const RowKey& other) { return part(other) != part(*all.begin()); });
  };
  name += differs([](const RowKey& row) { return std::get<1>(row); }) ? "." + type : "";
  name += differs([](const RowKey& row) { return std::get<2>(row); }) ? "." + redop : "";
  name += differs([](const RowKey& row) { return std::get<3>(row); }) ? fmt::format(".root{}", root)
                                                                      : "";
  return name;
}

// The average first, then each row out of place and in place.
std::vector<MetricInfo> metrics_of(const Draft& draft, const NcclRun& run) {
  MetricInfo metric;
  metric.unit = "GB/s";
  metric.better = Better::higher;
  metric.layer = layer_of(run);
  metric.subject = kind_of(run);
  metric.symmetric = metric.subject == SubjectKind::link;
  std::vector<MetricInfo> metrics;
  const auto add = [&](std::string name, bool judged, const char* description) {
    metrics.push_back(metric);
    metrics.back().name = std::move(name);
    metrics.back().judged = judged;
    metrics.back().description = description;
  };
  add("busbw", false, "average over all sizes, in place and out of place");
  for (const RowKey& key : draft.rows) {
    const std::string name = row_name(key, draft.rows);
    add("busbw." + name, true, "bus bandwidth out of place");
    add("busbw_in_place." + name, false, "bus bandwidth in place");
  }
  return metrics;
}

std::optional<double> positive(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

// A row that is there several times was measured so often: each time has a list of its own. The
// average stands in the first.
std::vector<Values> values_of(const NcclRun& run, const std::string& collective,
                              const Draft& draft) {
  std::map<RowKey, std::size_t> places;
  for (const RowKey& key : draft.rows) {
    places.try_emplace(key, 1 + 2 * places.size());
  }
  const auto factor = nccl_busbw_factor(collective, run.nranks());
  std::vector<Values> lists;
  std::map<RowKey, std::size_t> times;
  for (const NcclRow& row : run.rows) {
    const std::size_t time = times[key_of(row)]++;
    if (time == lists.size()) {
      lists.emplace_back(1 + 2 * places.size());
    }
    const std::size_t place = places.at(key_of(row));
    lists[time][place] = positive(nccl_busbw(row, row.out_of_place, factor));
    lists[time][place + 1] = positive(nccl_busbw(row, row.in_place, factor));
  }
  const bool all_sizes = times.size() == places.size();
  if (!lists.empty() && (run.average_GB_s || all_sizes)) {
    lists.front().front() = positive(run.average_GB_s.value_or(nccl_average(run)));
  }
  return lists;
}

}  // namespace

std::string nccl_shape(const NcclRun& run) {
  std::map<std::string, int> gpus;  // by node
  std::set<int> groups;
  for (const NcclRank& rank : run.ranks) {
    ++gpus[rank.node];
    groups.insert(rank.group);
  }
  const int all = static_cast<int>(run.ranks.size()) + run.ranks_unnamed;
  const int each = all / static_cast<int>(gpus.size());
  const bool even = std::ranges::all_of(
      gpus, [&](const auto& node) { return run.ranks_unnamed > 0 || node.second == each; });
  const std::string nodes = gpus.size() == 1 ? "" : fmt::format("{} nodes", gpus.size());
  const bool product = even && each * static_cast<int>(gpus.size()) == all;
  const int shown = product ? each : all;
  return fmt::format("{}{}{} {}{}", nodes,
                     nodes.empty() ? ""
                     : product     ? " x "
                                   : ", ",
                     shown, shown == 1 ? "GPU" : "GPUs",
                     groups.size() > 1 ? fmt::format(", {} groups", groups.size()) : "");
}

NcclSteps::NcclSteps(const std::vector<const NcclRun*>& runs) : step_of_(runs.size()) {
  std::map<std::string, Draft> drafts;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    NcclPlace& place = places_.emplace_back();
    place.collective = nccl_collective(*runs[i]);
    Draft& draft = drafts[fmt::format(
        "{} {}", place.collective.empty() ? "nccl-tests" : place.collective, nccl_shape(*runs[i]))];
    draft.runs.push_back(i);
    if (!runs[i]->has_failed() && !runs[i]->is_wrong()) {
      for (const NcclRow& row : runs[i]->rows) {
        draft.rows.insert(key_of(row));
      }
    }
  }
  for (const auto& [id, draft] : drafts) {
    const NcclRun& first = *runs[draft.runs.front()];
    StepRecord& step = records_.emplace_back();
    step.step = static_cast<int>(records_.size()) - 1;
    step.id = id;
    step.probe = "imported";
    step.params = {{"collective", places_[draft.runs.front()].collective},
                   {"ranks", first.nranks()}};
    step.work = Json::object();
    step.metrics = metrics_of(draft, first);
    for (const std::size_t run : draft.runs) {
      step_of_[run] = records_.size() - 1;
      if (!runs[run]->has_failed() && !runs[run]->is_wrong()) {
        places_[run].values = values_of(*runs[run], places_[run].collective, draft);
      }
    }
  }
}

}  // namespace fleetbench::record
