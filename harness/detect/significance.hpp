// How likely what was judged is among healthy subjects, given everything else that was tested.
#pragma once

#include <optional>
#include <vector>

#include "harness/detect/judge.hpp"

namespace fleetbench::detect {

// Sets the p-values of all judged rows of the run, and of each table the tail and the share of the
// error that a row of it has. What is usual is learnt from the scores themselves: the tail that
// fits those of a layer, of which the tail of the whole run is the expectation.
//
// One multiplicity rule for everything: Benjamini and Hochberg's, over nodes and layers, so that at
// most one healthy fleet in a hundred carries a finding, and one finding in a hundred is false. All
// tests of a node in a layer are one discovery; links are adjusted by Bonferroni. Nodes, devices
// and links, and each way to look at them, have equal parts of the error (jitter a quarter of one);
// of each part three quarters go to the layers' averages and one to the single metrics, so that
// many metrics do not take from the layers and many links not from the nodes. A layer's only metric
// counts as its average.
void test_all(std::vector<Judged>& tables);

// The slowdown that a typical subject would have needed to be reported: log scale; none where
// nothing was judged.
std::optional<double> smallest_visible(const Judged& judged, double family_error,
                                       double min_effect);

}  // namespace fleetbench::detect
