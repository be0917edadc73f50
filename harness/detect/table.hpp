// The samples of one metric, on the scale on which they are compared.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/detect/clean_set.hpp"
#include "results-schema/metric.hpp"
#include "results-schema/report.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::detect {

// x = s ln(value), s = +1 where lower is better and -1 where higher is: a positive difference is
// slow, and its exponential is the ratio of the times.
double to_x(double value, Better better);
double to_value(double x, Better better);
double to_pct(double x);             // 100 (e^x - 1)
double slowdown_of_pct(double pct);  // its inverse

// What a table's rows are: measured; what a node, or a rail of it, adds to its pairs; what is left
// of a pair; what pairs through the same switch or rail have in common.
enum class Role { own, sends, receives, talks, link, shared };

// How the samples are looked at: as measured; what is left beyond the covariates; against each
// subject's own history; how much its passes vary.
enum class Look { measured, beyond, history, jitter };

// Of one metric, or the average of all metrics of a layer.
enum class Part { metric, layer };

struct Row {
  int node = -1;         // the first end, where the subject is a link; none of a group
  int peer = -1;         // links only
  int device = -1;       // position in Names::devices; none: the node itself
  int group = -1;        // position in Names::groups
  int ends = -1;         // position in Names::ends: the devices by which it was measured; none: all
  int component = -1;    // position in Names::components
  double reference = 0;  // what a link's two ends lead one to expect; 0 where rows are peers
  double base = 0;       // what links between such nodes are usually like
};

// A node, or one device of it.
struct Port {
  int node = -1;
  int device = -1;

  auto operator<=>(const Port&) const = default;
};

// What several nodes have in common: a switch, a rail of all of them or of some.
struct Component {
  Subject subject;
  std::vector<bool> nodes;  // by position; empty: all
  int device = -1;          // of each of them that counts; none: all
  bool leaving = false;     // only pairs with one end in it count, not those inside

  bool has(const Port& port) const {
    return (nodes.empty() || nodes[port.node]) && (device < 0 || device == port.device);
  }
};

// What the numbers in rows stand for.
struct Names {
  std::vector<std::string> nodes;
  std::vector<std::string> devices;
  std::vector<std::vector<int>> groups;  // nodes of each, sorted
  std::vector<std::vector<Port>> ends;   // sorted
  std::vector<Component> components;
  std::vector<int> cohorts;  // of each node
  std::vector<std::string> cohort_names;
};

inline constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

struct Table {
  int step = 0;
  std::string step_id;
  std::string metric;  // with the step's id before it; of a layer its name
  MetricInfo info;
  Role role = Role::own;
  Look look = Look::measured;
  Part part = Part::metric;
  bool of_its_devices = false;  // of nodes: what their devices have in common
  std::vector<int> passes;      // their numbers
  std::vector<Row> rows;
  std::vector<double> x;  // rows times passes, one row after the other; kAbsent: no sample
  // Of a layer's average: its spread between subjects were its metrics independent.
  double expected_sigma = 1;
  std::map<int, Prior> expected;  // spreads, by cohort: from a baseline
  int fitted = 0;                 // parameters of the model behind the references
  bool fixed_reference = false;   // peers tell neither centre nor spread: references are all

  std::span<const double> values(std::size_t row) const {
    return {x.data() + row * passes.size(), passes.size()};
  }
  std::span<double> values(std::size_t row) {
    return {x.data() + row * passes.size(), passes.size()};
  }
  bool of_links() const { return role == Role::link; }
  bool of_devices() const { return !rows.empty() && rows.front().device >= 0; }
  bool of_groups() const { return info.subject == SubjectKind::group; }
  // Adds a row without values.
  void add_row(const Row& row) {
    rows.push_back(row);
    x.resize(x.size() + passes.size(), kAbsent);
  }
};

// A table with the same rows' metric and passes, but no rows.
Table empty_like(const Table& table);

// Whether it is what pairs or groups tell of somebody.
bool is_derived_from_pairs(const Table& table);

// The label that all ends of a row share: it was measured on one rail. None: -1.
int rail_of(const Names& names, const Row& row);

Subject subject_of(const Names& names, const Table& table, const Row& row);

// Whether its columns are passes: how much they vary is one value a subject.
bool has_passes(const Table& table);

// Median of what is there; kAbsent where nothing is.
double level(std::span<const double> values);
std::size_t count(std::span<const double> values);

// Standard deviation from pass to pass, pooled over subjects: from the median of |x_p - x_q| over
// pairs of passes of the same subject. A difference of two normal values is normal for any number
// of passes, so no small-sample factor is needed. None where no subject has two passes.
std::optional<double> pass_sigma(const Table& table);
std::optional<double> pass_sigma(const std::vector<std::vector<double>>& subjects);
std::optional<double> pass_sigma(std::span<const double> values);

// What all subjects share in a pass (a drift of the whole fleet) is taken out, so that passes can
// be compared; the overall level stays. Needs three subjects in a pass, else that pass is left.
void remove_drift(Table& table);

}  // namespace fleetbench::detect
