#include "harness/detect/pair_graph.hpp"

#include <algorithm>

namespace fleetbench::detect {

PairGraph::PairGraph(int nodes, const std::vector<PairValue>& pairs, bool symmetric)
    : symmetric_(symmetric),
      nodes_(nodes),
      pairs_(&pairs),
      kept_(static_cast<std::size_t>(symmetric ? nodes : 2 * nodes), true) {
  list_pairs();
  keep_core();
  list_pairs();
}

void PairGraph::keep_none() {
  kept_.assign(kept_.size(), false);
  list_pairs();
}

std::size_t PairGraph::count_kept() const {
  return static_cast<std::size_t>(std::ranges::count(kept_, true));
}

std::size_t PairGraph::most_pairs() const {
  std::size_t most = 0;
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    most = std::max(most, pairs_of(k).size());
  }
  return most;
}

void PairGraph::list_pairs() {
  start_.assign(kept_.size() + 1, 0);
  for (const PairValue& pair : *pairs_) {
    if (uses(pair)) {
      ++start_[first(pair) + 1];
      ++start_[second(pair) + 1];
    }
  }
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    start_[k + 1] += start_[k];
  }
  used_.resize(start_.back());
  std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
  for (std::size_t p = 0; p < pairs_->size(); ++p) {
    const PairValue& pair = (*pairs_)[p];
    if (uses(pair)) {
      used_[next[first(pair)]++] = static_cast<int>(p);
      used_[next[second(pair)]++] = static_cast<int>(p);
    }
  }
}

void PairGraph::keep_core() {
  std::vector<int> partners(kept_.size());
  std::vector<int> dropped;
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    partners[k] = static_cast<int>(pairs_of(k).size());
    if (partners[k] < kFewestPartners) {
      kept_[k] = false;
      dropped.push_back(static_cast<int>(k));
    }
  }
  while (!dropped.empty()) {
    const int gone = dropped.back();
    dropped.pop_back();
    for (const int p : pairs_of(static_cast<std::size_t>(gone))) {
      const PairValue& pair = (*pairs_)[p];
      const int other = first(pair) == gone ? second(pair) : first(pair);
      if (kept_[other] && --partners[other] < kFewestPartners) {
        kept_[other] = false;
        dropped.push_back(other);
      }
    }
  }
}

bool PairGraph::identifiable() const {
  std::vector<int> colour(kept_.size());
  const auto start = std::ranges::find(kept_, true);
  if (start == kept_.end()) {
    return true;
  }
  std::vector<int> reached{static_cast<int>(start - kept_.begin())};
  colour[reached.front()] = 1;
  bool odd_ring = false;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const int one = reached[i];
    for (const int p : pairs_of(static_cast<std::size_t>(one))) {
      const PairValue& pair = (*pairs_)[p];
      const int other = first(pair) == one ? second(pair) : first(pair);
      odd_ring = odd_ring || colour[other] == colour[one];
      if (colour[other] == 0) {
        colour[other] = -colour[one];
        reached.push_back(other);
      }
    }
  }
  return reached.size() == count_kept() && (odd_ring || !symmetric_);
}

}  // namespace fleetbench::detect
