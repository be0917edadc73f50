#include "harness/record/csv_metrics.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace fleetbench::record {
namespace {

constexpr std::string_view kTelemetry = "telemetry";

}  // namespace

// Rails are never compared with each other: each makes a metric of its own.
int CsvMetrics::number_of(const MetricCells& cells) {
  name_.assign(cells.metric);
  if (!cells.rail.empty()) {
    name_ += '@';
    name_ += cells.rail;
  }
  const int number = names_.number(name_);
  if (number == static_cast<int>(rows_.metrics.size())) {
    rows_.metrics.emplace_back().name = name_;
    unit_line_.push_back(0);
  }
  if (!has_same_unit(cells, number)) {
    return kNone;
  }
  read_better(cells, number);
  read_layer(cells, number);
  return number;
}

bool CsvMetrics::has_same_unit(const MetricCells& cells, int number) {
  std::string& unit = rows_.metrics[static_cast<std::size_t>(number)].unit;
  int& line = unit_line_[static_cast<std::size_t>(number)];
  if (unit.empty() && !cells.unit.empty()) {
    unit = cells.unit;
    line = cells.line;
  }
  if (cells.unit.empty() || cells.unit == unit) {
    return true;
  }
  rows_.error("conflict", cells.file, cells.line,
              fmt::format("{} on {} is in {}, but in {} on line {}; give one unit for each metric",
                          name_, cells.node, cells.unit, unit, line));
  return false;
}

void CsvMetrics::read_better(const MetricCells& cells, int number) {
  if (cells.better.empty()) {
    return;
  }
  std::optional<Better>& better = rows_.metrics[static_cast<std::size_t>(number)].better;
  try {
    const Better given = parse_better(in_lower_case(cells.better));
    if (better && *better != given) {
      warn_once(cells, number, Column::better, "conflict",
                fmt::format("{}: better is {} here, and {} before; that counts", name_,
                            to_string(given), to_string(*better)));
    }
    better = better.value_or(given);
  } catch (const std::invalid_argument& wrong) {
    warn_once(cells, number, Column::better, "unknown_direction",
              fmt::format("{}: {}", name_, wrong.what()));
  }
}

void CsvMetrics::read_layer(const MetricCells& cells, int number) {
  if (cells.layer.empty()) {
    return;
  }
  const std::string text = in_lower_case(cells.layer);
  if (text == kTelemetry) {
    return keep_layer(cells, number, std::nullopt);
  }
  try {
    keep_layer(cells, number, parse_layer(text));
  } catch (const std::invalid_argument& wrong) {
    warn_once(cells, number, Column::layer, "unknown_layer",
              fmt::format("{}: {}, {}; its name and unit decide", name_, wrong.what(), kTelemetry));
  }
}

// No layer is telemetry's.
void CsvMetrics::keep_layer(const MetricCells& cells, int number, std::optional<Layer> given) {
  ImportedMetric& metric = rows_.metrics[static_cast<std::size_t>(number)];
  if (!metric.layer && !metric.covariate) {
    metric.layer = given;
    metric.covariate = !given;
    metric.judged = given.has_value();
  } else if (metric.layer != given) {
    warn_once(cells, number, Column::layer, "conflict",
              fmt::format("{}: layer is {} here, and {} before; that counts", name_,
                          given ? to_string(*given) : kTelemetry,
                          metric.layer ? to_string(*metric.layer) : kTelemetry));
  }
}

void CsvMetrics::warn_once(const MetricCells& cells, int number, Column column, std::string kind,
                           std::string message) {
  if (warned_.insert({number, column}).second) {
    rows_.warn(std::move(kind), cells.file, cells.line, std::move(message));
  }
}

}  // namespace fleetbench::record
