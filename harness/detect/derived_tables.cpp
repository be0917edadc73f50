#include "harness/detect/derived_tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "harness/detect/parallel.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr std::size_t kFewestPasses = 8;     // that tell how much they vary
constexpr std::size_t kFewestJittering = 8;  // subjects
constexpr double kHigh = 0.95;
constexpr std::size_t kFewestToWeigh = 5;  // from which weights can be learnt
constexpr std::size_t kFewestMetrics = 2;
// A subject that lacks the metrics which carry most of the weight has no average to compare.
constexpr double kLeastWeight = 0.5;

bool several_devices(const Table& table) {
  for (std::size_t row = 1; row < table.rows.size(); ++row) {
    if (table.rows[row].node == table.rows[row - 1].node) {
      return true;
    }
  }
  return false;
}

// Its passes keep their distances.
void move_level_to(double wanted, std::span<double> values) {
  const double distance = wanted - level(values);
  for (double& value : values) {
    value += distance;
  }
}

// Rows of a table are sorted by node. The level is that of the middle device, not of the middle one
// in each pass: their runs need not be simultaneous.
Table table_of_nodes(const Table& devices) {
  Table table = empty_like(devices);
  table.info.subject = SubjectKind::node;
  table.of_its_devices = true;
  std::vector<double> values;
  for (std::size_t first = 0; first < devices.rows.size();) {
    const int node = devices.rows[first].node;
    std::size_t end = first;
    while (end < devices.rows.size() && devices.rows[end].node == node) {
      ++end;
    }
    table.add_row({.node = node});
    std::vector<double> levels;
    for (std::size_t row = first; row < end; ++row) {
      levels.push_back(level(devices.values(row)));
    }
    for (std::size_t pass = 0; pass < table.passes.size(); ++pass) {
      values.clear();
      for (std::size_t row = first; row < end; ++row) {
        if (!std::isnan(devices.values(row)[pass])) {
          values.push_back(devices.values(row)[pass]);
        }
      }
      if (!values.empty()) {
        table.values(table.rows.size() - 1)[pass] = median(values);
      }
    }
    move_level_to(median(std::move(levels)), table.values(table.rows.size() - 1));
    first = end;
  }
  return table;
}

// Of sorted values, interpolated.
double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double jitter_of_sorted(std::span<const double> sorted) {
  return quantile(sorted, kHigh) - quantile(sorted, 0.5);
}

double jitter_of(std::span<const double> values) {
  std::vector<double> present;
  std::ranges::copy_if(values, std::back_inserter(present),
                       [](double value) { return !std::isnan(value); });
  if (present.size() < kFewestPasses) {
    return kAbsent;
  }
  std::ranges::sort(present);
  const std::span<const double> all(present);
  const double trimmed = jitter_of_sorted(all.first(present.size() - present.size() / 4));
  return std::min(jitter_of_sorted(all), 2 * trimmed);
}

Table table_of_jitter(const Table& table) {
  Table result = empty_like(table);
  result.look = Look::jitter;
  result.passes = {0};
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (const double jitter = jitter_of(table.values(row)); !std::isnan(jitter)) {
      result.add_row(table.rows[row]);
      result.x.back() = jitter;
    }
  }
  return result;
}

struct Weighed {
  const Judged* judged = nullptr;
  double weight = 0;
};

std::optional<Weighed> weigh(const Judged& judged) {
  std::vector<double> scales;
  for (const Judgement& judgement : judged.rows) {
    if (judgement.judged) {
      scales.push_back(judgement.scale);
    }
  }
  if (scales.size() < kFewestToWeigh) {
    return std::nullopt;
  }
  const double scale = median(std::move(scales));
  return Weighed{&judged, 1 / (scale * scale)};
}

using Who = std::pair<int, int>;  // node, device

struct Sum {
  double weighted = 0;
  double weight = 0;
};

Table begin_layer(const std::vector<Weighed>& metrics) {
  Table table = empty_like(metrics.front().judged->table);
  table.part = Part::layer;
  table.role = Role::own;
  table.of_its_devices = std::ranges::all_of(
      metrics, [](const Weighed& metric) { return metric.judged->table.of_its_devices; });
  table.metric = std::string(to_string(table.info.layer));
  table.step_id = table.metric;
  table.info.name = table.metric;
  table.info.unit = "";
  table.info.better = Better::lower;
  table.info.symmetric = false;
  std::set<int> passes;
  for (const Weighed& metric : metrics) {
    passes.insert(metric.judged->table.passes.begin(), metric.judged->table.passes.end());
  }
  table.passes.assign(passes.begin(), passes.end());
  return table;
}

void add_metric(const Weighed& metric, const Table& layer, std::map<Who, std::vector<Sum>>& sums) {
  const Table& table = metric.judged->table;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const Judgement& judgement = metric.judged->rows[row];
    if (!judgement.judged) {
      continue;
    }
    auto& of_subject = sums[{table.rows[row].node, table.rows[row].device}];
    of_subject.resize(layer.passes.size());
    for (std::size_t pass = 0; pass < table.passes.size(); ++pass) {
      const double value = table.values(row)[pass];
      if (!std::isnan(value)) {
        const auto place = std::ranges::lower_bound(layer.passes, table.passes[pass]);
        Sum& sum = of_subject[static_cast<std::size_t>(place - layer.passes.begin())];
        sum.weighted += metric.weight * (value - judgement.peers);
        sum.weight += metric.weight;
      }
    }
  }
}

Table table_of_layer(const std::vector<Weighed>& metrics) {
  Table table = begin_layer(metrics);
  std::map<Who, std::vector<Sum>> sums;
  double all = 0;
  for (const Weighed& metric : metrics) {
    add_metric(metric, table, sums);
    all += metric.weight;
  }
  table.expected_sigma = 1 / std::sqrt(all);
  for (const auto& [who, of_subject] : sums) {
    table.add_row({.node = who.first, .device = who.second});
    for (std::size_t pass = 0; pass < of_subject.size(); ++pass) {
      if (of_subject[pass].weight >= kLeastWeight * all) {
        table.values(table.rows.size() - 1)[pass] =
            of_subject[pass].weighted / of_subject[pass].weight;
      }
    }
  }
  return table;
}

bool can_be_averaged(const Table& table) {
  return table.part == Part::metric && table.look == Look::measured && !table.of_links() &&
         !table.of_groups() && table.role != Role::shared &&
         !(table.of_devices() && is_derived_from_pairs(table));
}

}  // namespace

std::vector<Table> tables_of_nodes(const std::vector<Table>& tables) {
  std::vector<Table> result;
  for (const Table& table : tables) {
    if (table.of_devices() && several_devices(table)) {
      result.push_back(table_of_nodes(table));
    }
  }
  return result;
}

std::vector<Table> tables_of_jitter(const std::vector<Table>& tables) {
  std::vector<Table> result;
  for (const Table& table : tables) {
    if (table.role == Role::own && !table.of_groups() && table.passes.size() >= kFewestPasses &&
        table.look == Look::measured) {
      Table jitter = table_of_jitter(table);
      if (jitter.rows.size() >= kFewestJittering && 2 * jitter.rows.size() >= table.rows.size()) {
        result.push_back(std::move(jitter));
      }
    }
  }
  return result;
}

bool averages(const Table& layer, const Table& metric) {
  return can_be_averaged(metric) && layer.part == Part::layer &&
         layer.info.layer == metric.info.layer && layer.of_devices() == metric.of_devices();
}

std::vector<Table> tables_of_layers(const std::vector<Judged>& judged) {
  std::map<std::pair<Layer, bool>, std::vector<Weighed>> by_layer;
  for (const Judged& one : judged) {
    if (can_be_averaged(one.table)) {
      if (const auto weighed = weigh(one)) {
        by_layer[{one.table.info.layer, one.table.of_devices()}].push_back(*weighed);
      }
    }
  }
  std::vector<std::vector<Weighed>> wanted;
  for (auto& [layer, metrics] : by_layer) {
    if (metrics.size() >= kFewestMetrics) {
      wanted.push_back(std::move(metrics));
    }
  }
  std::vector<Table> result(wanted.size());
  for_each_index(wanted.size(), [&](std::size_t i) { result[i] = table_of_layer(wanted[i]); });
  return result;
}

}  // namespace fleetbench::detect
