// What readers of other tools' files have found fault with.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/record/imported_samples.hpp"

namespace fleetbench::record {

// A file of nothing but faults may have one on each of its millions of lines.
struct Problems {
  static constexpr std::size_t kMostKept = 100'000;

  void add(Problem problem);

  std::vector<Problem> kept;
  std::size_t more = 0;  // that were not kept
};

// By the place of their file in `files` and their line. Of more than a thousand the last one says
// how many others there are.
std::vector<Problem> in_order(Problems all, const std::vector<std::string>& files);

}  // namespace fleetbench::record
