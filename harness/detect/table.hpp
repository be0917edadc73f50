// The samples of one metric, on the scale on which they are compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/detect/robust.hpp"
#include "results-schema/metric.hpp"
#include "results-schema/report.hpp"

namespace fleetbench::detect {

// x = s ln(value), s = +1 where lower is better and -1 where higher is: a positive difference is
// slow, and its exponential is the ratio of the times.
double to_x(double value, Better better);
double to_value(double x, Better better);
double to_pct(double x);             // 100 (e^x - 1)
double slowdown_of_pct(double pct);  // its inverse

// What a table's rows are: measured, or derived from a pair metric.
enum class Role { own, sends, receives, talks, link };

struct Row {
  Subject subject;
  int node = -1;         // the first end, where the subject is a link; none of a group
  int peer = -1;         // links only
  double reference = 0;  // what a link's two ends lead one to expect; 0 where rows are peers
  Passes x;              // by position in Table::passes; empty where there is no good sample
};

struct Table {
  int step = 0;
  std::string step_id;
  std::string metric;  // with the step's id before it
  MetricInfo info;
  Role role = Role::own;
  std::vector<int> passes;
  std::vector<Row> rows;
  int fitted = 0;                // parameters of the model behind the references
  bool fixed_reference = false;  // peers tell neither centre nor spread: references are all
};

// Median over the passes, none without values.
std::optional<double> level(const Passes& x);
std::size_t count(const Passes& x);

// What all subjects share in a pass (a drift of the whole fleet) is taken out, so that passes can
// be compared; the overall level stays. Needs three subjects in a pass, else that pass is left.
void remove_drift(Table& table);

}  // namespace fleetbench::detect
