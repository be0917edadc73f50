// Problems of an imported file in a form that tests can list.
#pragma once

#include <string>
#include <vector>

#include "harness/record/imported_samples.hpp"

namespace fleetbench::record {

// "kind@line" of each.
inline std::vector<std::string> marks(const std::vector<Problem>& problems) {
  std::vector<std::string> all;
  for (const Problem& problem : problems) {
    all.push_back(problem.kind + "@" + std::to_string(problem.line));
  }
  return all;
}

}  // namespace fleetbench::record
