// Pairs as a graph: who met whom, and which effects can be told from each other.
#pragma once

#include <span>
#include <vector>

#include "harness/detect/pairs.hpp"

namespace fleetbench::detect {

// The effects are unknowns 0 … n-1, and n … 2n-1 for what directed pairs receive; each pair joins
// two of them.
class PairGraph {
 public:
  // `pairs` must outlive this. Drops unknowns with too few partners until all that are left have
  // enough among each other.
  PairGraph(int nodes, const std::vector<PairValue>& pairs, bool symmetric);

  // Whether all kept unknowns can be told from each other: they hang together, and, where one kind
  // of effect stands at both ends, some ring of pairs is odd (else a shift of every other node
  // fits).
  bool identifiable() const;
  void keep_none();

  bool symmetric() const { return symmetric_; }
  int nodes() const { return nodes_; }
  std::size_t unknowns() const { return kept_.size(); }
  const std::vector<bool>& kept() const { return kept_; }
  std::size_t count_kept() const;
  const std::vector<PairValue>& pairs() const { return *pairs_; }

  int first(const PairValue& pair) const { return pair.from; }
  int second(const PairValue& pair) const { return symmetric_ ? pair.to : nodes_ + pair.to; }
  bool uses(const PairValue& pair) const { return kept_[first(pair)] && kept_[second(pair)]; }

  // Positions of the pairs of an unknown, only those that are used.
  std::span<const int> pairs_of(std::size_t unknown) const {
    return {used_.data() + start_[unknown], used_.data() + start_[unknown + 1]};
  }
  std::size_t most_pairs() const;  // of one unknown

 private:
  void keep_core();
  void list_pairs();

  bool symmetric_ = false;
  int nodes_ = 0;
  const std::vector<PairValue>* pairs_ = nullptr;
  std::vector<bool> kept_;
  std::vector<std::size_t> start_;  // in used_, of each unknown
  std::vector<int> used_;
};

}  // namespace fleetbench::detect
