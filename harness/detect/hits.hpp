// Rows of judged tables that stand out, sorted by what they speak about.
#pragma once

#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "harness/detect/closer.hpp"
#include "harness/detect/judge.hpp"
#include "harness/detect/slow.hpp"

namespace fleetbench::detect {

struct Hit {
  const Judged* judged = nullptr;
  std::size_t row = 0;
  Closer closer;
  std::size_t peers = 0;  // subjects that were judged together, itself included

  const Table& table() const { return judged->table; }
  const Judgement& judgement() const { return judged->rows[row]; }
  const Row& subject() const { return table().rows[row]; }
};

// Layer and subject: node, the other end of a link, device; of a link by which devices instead, and
// of what nodes have in common the component alone. Both directions of a link are one.
using Key = std::tuple<Layer, int, int, int>;
using Hits = std::map<Key, std::vector<Hit>>;

Key key_of(Layer layer, const Row& row);

// The one whose effect and interval are the finding's: of the average of the layer, else of the
// quietest metric; but of a metric that is slower than that beyond doubt.
const Hit& leading(const std::vector<Hit>& hits);

using Chosen = std::function<bool(const Table&, const Judgement&)>;
Hits collect_hits(const std::vector<Judged>& tables, const Chosen& chosen);

}  // namespace fleetbench::detect
