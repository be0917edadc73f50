#include "harness/detect/pair_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/detect/robust.hpp"

namespace fleetbench::detect {

namespace {

constexpr double kSmallestSigma = 0.002;
constexpr std::size_t kFewestHealthy = 2;  // pairs that nobody accused touches
constexpr std::size_t kFewestForSigma = 5;
constexpr double kAssumedSigma = 0.02;  // of fewer
// Of a node's pairs: where those within its block are well and those across are not, or the other
// way round, it is not the node.
constexpr double kLeastShareOfNode = 0.7;
constexpr double kSlowShare = 0.5;  // of an effect, from which a pair has it
// A pair is not called slow for what one healthy pair in a hundred shows.
constexpr double kSlowSigmas = 2.5;
constexpr double kMostOfEffect = 0.8;

bool touches_node(const Table& table, const Row& row, std::span<const Port> ports, const Port& port,
                  const Directions& directions) {
  if (table.of_links() && !(directions.from && row.node == port.node) &&
      !(directions.to && row.peer == port.node)) {
    return false;
  }
  return std::ranges::any_of(ports, [&](const Port& one) {
    return one.node == port.node && (port.device < 0 || one.device == port.device);
  });
}

}  // namespace

PairCase::PairCase(const Judged& judged, const Names& names, const std::vector<Accused>& accused)
    : judged_(&judged), names_(&names), ports_(judged.table, names) {
  list_candidates(accused);
  set_excess(accused);
  widen_to_both_directions(accused);
}

double PairCase::ports_a_row() const {
  std::size_t ports = 0;
  for (std::size_t row = 0; row < ports_.rows(); ++row) {
    ports += ports_.of(row).size();
  }
  const bool known =
      std::ranges::any_of(table().rows, [](const Row& row) { return row.ends >= 0; });
  constexpr double kAllDevices = 1e6;  // which they were is not known
  return static_cast<double>(ports) / static_cast<double>(std::max<std::size_t>(1, ports_.rows())) +
         (known ? 0 : kAllDevices);
}

void PairCase::list_candidates(const std::vector<Accused>& accused) {
  for (const Accused& one : accused) {
    Candidate candidate;
    const Component* component =
        one.row().component < 0 ? nullptr : &names_->components[one.row().component];
    if (one.is_link()) {
      candidate.touches = table().of_links() ? rows_of_link(table(), one) : std::vector<int>{};
    } else {
      candidate.touches = rows_touching(one, directions_of(one, table()), component);
    }
    if (component != nullptr) {
      set_parts(*component, candidate);
    } else if (!one.is_link()) {
      candidate.least_share = kLeastShareOfNode;
    }
    candidates_.push_back(std::move(candidate));
  }
}

std::vector<int> PairCase::rows_touching(const Accused& accused, const Directions& directions,
                                         const Component* component) const {
  std::vector<int> rows;
  if (!directions.from && !directions.to) {
    return rows;
  }
  const Port port{accused.row().node, accused.row().device};
  for (std::size_t row = 0; row < ports_.rows(); ++row) {
    if (component != nullptr
            ? ports_.touches(row, *component)
            : touches_node(table(), table().rows[row], ports_.of(row), port, directions)) {
      rows.push_back(static_cast<int>(row));
    }
  }
  return rows;
}

void PairCase::set_parts(const Component& component, Candidate& candidate) const {
  std::map<int, std::vector<int>> by_node;
  for (std::size_t i = 0; i < candidate.touches.size(); ++i) {
    int last = -1;
    for (const Port& port : ports_.of(static_cast<std::size_t>(candidate.touches[i]))) {
      if (port.node != last && component.has(port)) {
        last = port.node;
        by_node[port.node].push_back(static_cast<int>(i));
      }
    }
  }
  for (auto& [node, places] : by_node) {
    candidate.parts.push_back(std::move(places));
  }
}

// Healthy is the median of what nobody accused touches; where that is too little, of the faster
// half.
void PairCase::set_excess(const std::vector<Accused>& accused) {
  const bool rails = std::ranges::any_of(accused, [&](const Accused& one) {
    const int component = one.row().component;
    return component >= 0 && names_->components[component].device >= 0 &&
           names_->components[component].nodes.empty();
  });
  std::vector<double> bases;
  for (const Row& row : table().rows) {
    bases.push_back(row.base);
  }
  const double usual = median(bases);
  std::vector<bool> touched(table().rows.size());
  for (const Candidate& candidate : candidates_) {
    for (const int row : candidate.touches) {
      touched[row] = true;
    }
  }
  std::vector<double> healthy;
  std::vector<double> all;
  for (std::size_t row = 0; row < table().rows.size(); ++row) {
    const double base = rails ? usual : table().rows[row].base;
    excess_.push_back(level(table().values(row)) - base);
    if (!std::isnan(excess_.back())) {
      all.push_back(excess_.back());
      if (!touched[row]) {
        healthy.push_back(excess_.back());
      }
    }
  }
  if (healthy.size() < kFewestHealthy) {
    std::ranges::sort(all);
    all.resize((all.size() + 1) / 2);
    healthy = std::move(all);
  }
  sigma_ = std::max(healthy.size() < kFewestForSigma ? kAssumedSigma : kSmallestSigma,
                    robust_sigma(healthy));
  const double shift = median(std::move(healthy));
  for (double& excess : excess_) {
    excess = std::isnan(excess) ? 0 : excess - shift;
  }
}

// One direction of a node's pairs may be significant where the other is nearly so.
void PairCase::widen_to_both_directions(const std::vector<Accused>& accused) {
  const auto middle = [&](const std::vector<int>& rows) {
    std::vector<double> of_rows;
    for (const int row : rows) {
      of_rows.push_back(excess_[row]);
    }
    return median(std::move(of_rows));
  };
  for (std::size_t a = 0; a < accused.size(); ++a) {
    const Directions directions = directions_of(accused[a], table());
    const bool of_node = accused[a].row().component < 0 && !accused[a].is_link();
    if (!of_node || directions.from == directions.to || !table().of_links()) {
      continue;
    }
    const auto other = rows_touching(accused[a], {!directions.from, !directions.to}, nullptr);
    if (!other.empty() && middle(other) >= kSlowShare * middle(candidates_[a].touches)) {
      candidates_[a].touches = rows_touching(accused[a], {true, true}, nullptr);
    }
  }
}

std::vector<Culprit> PairCase::cover(const std::vector<double>& weights, double least_effect) {
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    candidates_[c].weight = weights[c];
  }
  return detect::cover(excess_, sigma_, candidates_, least_effect);
}

bool PairCase::is_slow(int row, double effect) const {
  return excess_[row] >=
         std::max(kSlowShare * effect, std::min(kSlowSigmas * sigma_, kMostOfEffect * effect));
}

Counts PairCase::counts_of(const std::vector<Culprit>& chosen, std::size_t which) const {
  std::vector<int> explained(table().rows.size(), -1);
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    for (const int row : candidates_[chosen[c].candidate].touches) {
      explained[row] = c == which || explained[row] < 0 ? static_cast<int>(c) : explained[row];
    }
  }
  Counts counts;
  for (std::size_t row = 0; row < explained.size(); ++row) {
    if (std::isnan(level(table().values(row)))) {
      continue;
    }
    const bool slow = is_slow(static_cast<int>(row), chosen[which].effect);
    if (explained[row] == static_cast<int>(which)) {
      ++counts.touching;
      counts.slow_touching += slow;
    } else if (explained[row] < 0) {
      ++counts.others;
      counts.slow_others += slow;
    }
  }
  return counts;
}

std::vector<std::string> PairCase::slow_pairs(const Culprit& chosen) const {
  std::vector<std::pair<double, std::string>> slow;
  for (const int row : candidates_[chosen.candidate].touches) {
    if (is_slow(row, chosen.effect)) {
      const double x = level(table().values(static_cast<std::size_t>(row)));
      const Subject subject = subject_of(*names_, table(), table().rows[row]);
      slow.emplace_back(-x, fmt::format("{} {:.4g} {}", describe(subject),
                                        to_value(x, table().info.better), table().info.unit));
    }
  }
  std::ranges::stable_sort(slow, {}, [](const auto& entry) { return entry.first; });
  std::vector<std::string> texts;
  for (auto& [x, text] : slow) {
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<int> PairCase::slow_nodes(double effect) const {
  std::map<int, std::vector<double>> by_node;
  for (std::size_t row = 0; row < ports_.rows(); ++row) {
    int last = -1;
    for (const Port& port : ports_.of(row)) {
      if (port.node != last) {
        last = port.node;
        by_node[port.node].push_back(excess_[row]);
      }
    }
  }
  std::vector<int> nodes;
  for (auto& [node, excess] : by_node) {
    if (median(std::move(excess)) >= kSlowShare * effect) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

std::size_t PairCase::partners_of(const Port& wanted) const {
  std::set<int> partners;
  for (std::size_t row = 0; row < ports_.rows(); ++row) {
    const auto ports = ports_.of(row);
    const bool touches = std::ranges::any_of(ports, [&](const Port& port) {
      return port.node == wanted.node && (wanted.device < 0 || port.device == wanted.device);
    });
    for (const Port& port : ports) {
      if (touches && port.node != wanted.node) {
        partners.insert(port.node);
      }
    }
  }
  return partners.size();
}

std::vector<int> PairCase::devices_of(int node) const {
  std::set<int> devices;
  for (std::size_t row = 0; row < ports_.rows(); ++row) {
    for (const Port& port : ports_.of(row)) {
      if (port.node == node && port.device >= 0) {
        devices.insert(port.device);
      }
    }
  }
  return {devices.begin(), devices.end()};
}

}  // namespace fleetbench::detect
