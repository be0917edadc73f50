// What hangs together: sets that grow by joining.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace fleetbench::detect {

class Joined {
 public:
  explicit Joined(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  void join(int a, int b) { parent_[root_of(a)] = root_of(b); }
  // The same for all that hang together.
  int root_of(int one) {
    while (parent_[one] != one) {
      one = parent_[one] = parent_[parent_[one]];
    }
    return one;
  }

 private:
  std::vector<int> parent_;
};

}  // namespace fleetbench::detect
