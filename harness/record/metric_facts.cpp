#include "harness/record/metric_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/record/metric_words.hpp"

namespace fleetbench::record {
namespace {

SubjectKind kind_of(const SampleRow& row) {
  return row.peer != kNone     ? SubjectKind::link
         : row.device != kNone ? SubjectKind::device
                               : SubjectKind::node;
}

std::string full_name(const SampleRows& rows, const ImportedMetric& metric) {
  const std::string& step = rows.steps.name(metric.step);
  return step.empty() ? metric.name : step + "." + metric.name;
}

// Values of nodes and of their devices under one name are compared apart: the kind that comes first
// keeps the name.
class Kinds {
 public:
  explicit Kinds(SampleRows& rows) : rows_(rows), known_(rows.metrics.size(), false) {
    kinds_.resize(rows.metrics.size(), SubjectKind::node);
  }

  void take(SampleRow& row) {
    const SubjectKind kind = kind_of(row);
    const auto metric = static_cast<std::size_t>(row.metric);
    if (!known_[metric]) {
      known_[metric] = true;
      kinds_[metric] = kind;
    } else if (kinds_[metric] != kind) {
      row.metric = other(row, kind);
    }
  }

  std::vector<SubjectKind> result() && { return std::move(kinds_); }

 private:
  int other(const SampleRow& row, SubjectKind kind) {
    const auto [place, is_new] = others_.try_emplace({row.metric, kind}, 0);
    if (is_new) {
      ImportedMetric metric = rows_.metrics.at(static_cast<std::size_t>(row.metric));
      const std::string name = full_name(rows_, metric);
      metric.name += fmt::format(" ({})", to_string(kind));
      rows_.warn("conflict", row.file, row.line,
                 fmt::format("metric {} is of a {} here and of a {} before; the two are compared "
                             "apart, this one as \"{}\"",
                             name, to_string(kind),
                             to_string(kinds_[static_cast<std::size_t>(row.metric)]),
                             full_name(rows_, metric)));
      place->second = static_cast<int>(rows_.metrics.size());
      rows_.metrics.push_back(std::move(metric));
      kinds_.push_back(kind);
      known_.push_back(true);
    }
    return place->second;
  }

  SampleRows& rows_;
  std::vector<bool> known_;
  std::vector<SubjectKind> kinds_;
  std::map<std::pair<int, SubjectKind>, int> others_;
};

void settle_direction(SampleRows& rows, ImportedMetric& metric, const SampleRow& first) {
  if (!metric.judged || metric.better) {
    return;
  }
  metric.better = better_of_unit(metric.unit);
  if (metric.better) {
    return;
  }
  metric.judged = false;
  rows.error(
      "unknown_direction", first.file, first.line,
      fmt::format("metric {}: {} whether higher or lower values are better; "
                  "add a column \"better\" with higher or lower. It is not judged",
                  full_name(rows, metric),
                  metric.unit.empty() ? "it has no unit that tells"
                                      : fmt::format("its unit \"{}\" does not tell", metric.unit)));
}

void settle_layer(ImportedMetric& metric, SubjectKind kind) {
  if (!metric.layer) {
    metric.layer = layer_of_words(metric.name, metric.unit);
  }
  if (!metric.layer) {
    metric.layer = kind == SubjectKind::link ? Layer::network
                   : metric.covariate        ? Layer::host
                                             : Layer::step;
  }
}

// A value that has no logarithm cannot be compared.
void drop_unusable(SampleRows& rows) {
  std::erase_if(rows.rows, [&rows](const SampleRow& row) {
    if (row.status != Status::ok || row.value > 0) {
      return false;
    }
    const ImportedMetric& metric = rows.metrics[static_cast<std::size_t>(row.metric)];
    if (!metric.judged) {
      return false;
    }
    rows.error("bad_number", row.file, row.line,
               fmt::format("{} on {}: {} is not positive; where nothing was measured, say why in "
                           "the status",
                           full_name(rows, metric), rows.nodes.name(row.node), row.value));
    return true;
  });
}

}  // namespace

std::vector<SubjectKind> settle_metrics(SampleRows& rows) {
  Kinds kinds_so_far(rows);
  for (SampleRow& row : rows.rows) {
    if (row.status == Status::ok) {
      kinds_so_far.take(row);
    }
  }
  std::vector<SubjectKind> kinds = std::move(kinds_so_far).result();
  std::vector<const SampleRow*> first(rows.metrics.size(), nullptr);
  for (const SampleRow& row : rows.rows) {
    if (row.status == Status::ok && first[static_cast<std::size_t>(row.metric)] == nullptr) {
      first[static_cast<std::size_t>(row.metric)] = &row;
    }
  }
  for (std::size_t m = 0; m < rows.metrics.size(); ++m) {
    settle_layer(rows.metrics[m], kinds[m]);
    if (first[m] != nullptr) {
      settle_direction(rows, rows.metrics[m], *first[m]);
    }
  }
  drop_unusable(rows);
  return kinds;
}

}  // namespace fleetbench::record
