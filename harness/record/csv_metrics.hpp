// What the rows of a long CSV say about their metrics: unit, direction, layer.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/csv_columns.hpp"
#include "harness/record/sample_rows.hpp"

namespace fleetbench::record {

// What one row says; empty where it says nothing.
struct MetricCells {
  int file = 0;
  int line = 0;
  std::string_view node;
  std::string_view metric;
  std::string_view rail;
  std::string_view unit;
  std::string_view better;
  std::string_view layer;
};

class CsvMetrics {
 public:
  explicit CsvMetrics(SampleRows& rows) : rows_(rows) {}

  // The number of the row's metric in the SampleRows; kNone where its value is in another unit than
  // the metric's first one, which is reported. The first row that says something counts; others
  // that say something else are warned of, once for each metric and column.
  int number_of(const MetricCells& cells);

 private:
  bool has_same_unit(const MetricCells& cells, int number);
  void read_better(const MetricCells& cells, int number);
  void read_layer(const MetricCells& cells, int number);
  void keep_layer(const MetricCells& cells, int number, std::optional<Layer> given);
  void warn_once(const MetricCells& cells, int number, Column column, std::string kind,
                 std::string message);

  SampleRows& rows_;
  NameTable names_;
  std::string name_;
  std::vector<int> unit_line_;               // by metric: the first that has a unit
  std::set<std::pair<int, Column>> warned_;  // metric and column
};

}  // namespace fleetbench::record
