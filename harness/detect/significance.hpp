// How likely what was judged is among healthy subjects, given everything else that was tested.
#pragma once

#include <optional>
#include <vector>

#include "harness/detect/judge.hpp"

namespace fleetbench::detect {

// Sets the p-values of all judged rows of the run: Student's t with the degrees of the spread's
// estimate, or with those of the tail that the layer's scores show, whichever is longer. Adjusted
// by Holm among the nodes and among the links, each with half of the permitted error (with all of
// it where the other has no tests).
void test_all(std::vector<Judged>& tables);

// By how much the smallest p-value of a node, or of a link, is multiplied.
std::size_t weighted_tests(const std::vector<Judged>& tables, bool links);

// The slowdown that a typical subject would have needed to be reported: log scale; none where
// nothing was judged.
std::optional<double> smallest_visible(const Judged& judged, std::size_t tests, double family_error,
                                       double min_effect);

}  // namespace fleetbench::detect
