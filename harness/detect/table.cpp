#include "harness/detect/table.hpp"

#include <algorithm>
#include <array>

#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

// sigma from the median of |difference of two normal values|: 1.4826 / sqrt(2).
constexpr double kDifferenceFactor = 1.04836;
// Each pass is compared with so many that follow it: all pairs of many passes say little more.
constexpr std::size_t kFarthest = 4;

void add_differences(std::span<const double> values, std::vector<double>& differences) {
  for (std::size_t p = 0; p < values.size(); ++p) {
    for (std::size_t q = p + 1; q < std::min(values.size(), p + 1 + kFarthest); ++q) {
      const double difference = std::abs(values[p] - values[q]);
      if (!std::isnan(difference)) {
        differences.push_back(difference);
      }
    }
  }
}

std::optional<double> sigma_of(std::vector<double> differences) {
  return differences.empty() ? std::nullopt
                             : std::optional(kDifferenceFactor * median(std::move(differences)));
}

}  // namespace

double to_x(double value, Better better) {
  return better == Better::lower ? std::log(value) : -std::log(value);
}

double to_value(double x, Better better) { return std::exp(better == Better::lower ? x : -x); }

double to_pct(double x) { return 100 * std::expm1(x); }

double slowdown_of_pct(double pct) { return std::log1p(pct / 100); }

Table empty_like(const Table& table) {
  Table result;
  result.step = table.step;
  result.step_id = table.step_id;
  result.metric = table.metric;
  result.info = table.info;
  result.role = table.role;
  result.look = table.look;
  result.part = table.part;
  result.of_its_devices = table.of_its_devices;
  result.passes = table.passes;
  return result;
}

bool is_derived_from_pairs(const Table& table) {
  return table.role != Role::own && table.role != Role::link;
}

int rail_of(const Names& names, const Row& row) {
  if (row.ends < 0) {
    return -1;
  }
  const std::vector<Port>& ends = names.ends[row.ends];
  const bool same =
      std::ranges::all_of(ends, [&](const Port& end) { return end.device == ends.front().device; });
  return same ? ends.front().device : -1;
}

namespace {

std::string rail_name(const Names& names, const Row& row) {
  const int rail = rail_of(names, row);
  if (rail >= 0) {
    return names.devices[rail];
  }
  if (row.ends < 0 || names.ends[row.ends].size() != 2) {
    return "";
  }
  const auto& ends = names.ends[row.ends];
  const bool first = ends.front().node == row.node;
  return names.devices[ends[first ? 0 : 1].device] + "/" +
         names.devices[ends[first ? 1 : 0].device];
}

}  // namespace

Subject subject_of(const Names& names, const Table& table, const Row& row) {
  Subject subject;
  if (row.component >= 0) {
    return names.components[row.component].subject;
  }
  if (row.group >= 0) {
    subject.kind = "group";
    for (const int node : names.groups[row.group]) {
      subject.nodes.push_back(names.nodes[node]);
    }
  } else if (row.peer >= 0) {
    subject.kind = "link";
    subject.a = names.nodes[row.node];
    subject.b = names.nodes[row.peer];
    subject.directed = !table.info.symmetric;
    subject.rail = rail_name(names, row);
  } else if (row.device >= 0 && is_derived_from_pairs(table)) {
    subject.kind = "rail";
    subject.node = names.nodes[row.node];
    subject.rail = names.devices[row.device];
  } else {
    subject.kind = row.device >= 0 ? "device" : "node";
    subject.node = names.nodes[row.node];
    subject.device = row.device >= 0 ? names.devices[row.device] : "";
  }
  return subject;
}

bool has_passes(const Table& table) { return table.look != Look::jitter; }

// Called for every row of every table: nothing is allocated where there are few passes.
double level(std::span<const double> values) {
  std::array<double, 16> few{};
  if (values.size() <= few.size()) {
    const auto end = std::copy_if(values.begin(), values.end(), few.begin(),
                                  [](double value) { return !std::isnan(value); });
    const auto size = static_cast<std::size_t>(end - few.begin());
    if (size == 0) {
      return kAbsent;
    }
    std::sort(few.begin(), end);
    return 0.5 * (few[size / 2] + few[(size - 1) / 2]);
  }
  std::vector<double> present;
  std::copy_if(values.begin(), values.end(), std::back_inserter(present),
               [](double value) { return !std::isnan(value); });
  return present.empty() ? kAbsent : median(std::move(present));
}

std::size_t count(std::span<const double> values) {
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [](double value) { return !std::isnan(value); }));
}

std::optional<double> pass_sigma(const Table& table) {
  std::vector<double> differences;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    add_differences(table.values(row), differences);
  }
  return sigma_of(std::move(differences));
}

std::optional<double> pass_sigma(const std::vector<std::vector<double>>& subjects) {
  std::vector<double> differences;
  for (const std::vector<double>& values : subjects) {
    add_differences(values, differences);
  }
  return sigma_of(std::move(differences));
}

std::optional<double> pass_sigma(std::span<const double> values) {
  std::vector<double> differences;
  add_differences(values, differences);
  return sigma_of(std::move(differences));
}

void remove_drift(Table& table) {
  const std::size_t passes = table.passes.size();
  std::vector<double> drift(passes, kAbsent);
  std::vector<double> medians;
  std::vector<double> values;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    values.clear();
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      if (const double value = table.values(row)[pass]; !std::isnan(value)) {
        values.push_back(value);
      }
    }
    if (values.size() >= 3) {
      drift[pass] = median(values);
      medians.push_back(drift[pass]);
    }
  }
  const double overall = median(medians);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    for (std::size_t pass = 0; pass < passes; ++pass) {
      if (!std::isnan(drift[pass])) {
        table.values(row)[pass] -= drift[pass] - overall;
      }
    }
  }
}

}  // namespace fleetbench::detect
