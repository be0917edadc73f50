// Wilcoxon's signed-rank test, exactly.
#pragma once

#include <vector>

namespace fleetbench::detect {

// One-sided: how likely the differences are to lie as far above 0 as they do where every sign is a
// coin's. Differences of 0 are left out, equal ones share their ranks. 1 where nothing is left.
double signed_rank_p(std::vector<double> differences);

}  // namespace fleetbench::detect
