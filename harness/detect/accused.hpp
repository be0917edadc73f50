// Those that stand out among pairs and groups, before it is known who drags whom.
#pragma once

#include <vector>

#include "harness/detect/hits.hpp"

namespace fleetbench::detect {

// One that stands out, in some metric of a layer. Points into hits.
struct Accused {
  Key key;
  const std::vector<Hit>* hits = nullptr;

  const Row& row() const { return hits->front().subject(); }
  bool is_link() const { return row().peer >= 0; }
};

// Whether a table of nodes, rails or components was made from this one of links or groups, or is
// it.
bool is_made_from(const Table& derived, const Table& pairs);

// By which direction of its pairs somebody stands out.
struct Directions {
  bool from = false;
  bool to = false;
};

// Of a node, or a rail of it: in the metric of `pairs`, or, where it stands out in no metric by
// itself, in the average of its layer. Neither: in other metrics only.
Directions directions_of(const Accused& accused, const Table& pairs);

// Rows of `pairs` that are an accused link: both directions, where both stand out.
std::vector<int> rows_of_link(const Table& pairs, const Accused& accused);

}  // namespace fleetbench::detect
