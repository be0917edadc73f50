// The pairs, or groups, of one metric as a case against those that stand out.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/accused.hpp"
#include "harness/detect/cover.hpp"
#include "harness/detect/ports.hpp"
#include "results-schema/report.hpp"

namespace fleetbench::detect {

class PairCase {
 public:
  // `judged` is of links or groups. All that is given must outlive this.
  PairCase(const Judged& judged, const Names& names, const std::vector<Accused>& accused);

  const Table& table() const { return judged_->table; }
  double ports_a_row() const;

  // Who is needed to explain what is slow; positions in `accused`. `weights`: see Candidate.
  std::vector<Culprit> cover(const std::vector<double>& weights, double least_effect);

  // Of those chosen, what speaks for one and against it.
  Counts counts_of(const std::vector<Culprit>& chosen, std::size_t which) const;
  std::vector<std::string> slow_pairs(const Culprit& chosen) const;
  // Nodes that the median of whose pairs is at least half of the effect.
  std::vector<int> slow_nodes(double effect) const;
  // How many other nodes a node, or its device, met; -1: any device.
  std::size_t partners_of(const Port& port) const;
  // Devices by which a node took part; empty where it was with all.
  std::vector<int> devices_of(int node) const;

 private:
  void list_candidates(const std::vector<Accused>& accused);
  std::vector<int> rows_touching(const Accused& accused, const Directions& directions,
                                 const Component* component) const;
  void widen_to_both_directions(const std::vector<Accused>& accused);
  void set_parts(const Component& component, Candidate& candidate) const;
  void set_excess(const std::vector<Accused>& accused);
  bool is_slow(int row, double effect) const;

  const Judged* judged_;
  const Names* names_;
  Ports ports_;
  std::vector<Candidate> candidates_;  // of each accused
  std::vector<double> excess_;         // of each row; not a number counts as 0
  double sigma_ = 0;
};

}  // namespace fleetbench::detect
