// What members of a collective send in its check, and what must then arrive. PURE.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "probes/mpi/collective.hpp"

namespace fleetbench {

struct ElementMismatch {
  std::size_t element = 0;
  float expected = 0;
  float got = 0;
};

struct WrongElements {
  std::size_t count = 0;
  std::optional<ElementMismatch> first;
};

// All values are integers whose partial sums a float holds exactly, so any order of adding gives
// the same bits; and each depends on its sender and its place, so that a part that is lost, shifted
// or somebody else's is seen.
class ExactData {
 public:
  // For up to 266,000 members.
  explicit ExactData(std::size_t members);

  // What `member` sends.
  void fill(std::span<float> send, std::size_t member) const;

  // Looks at all that member `me` received for `count` elements. `got` is all of its receive buffer
  // that the collective fills; of a broadcast's root, which receives nothing, nothing is looked at.
  WrongElements compare(const Collective& collective, std::span<const float> got, std::size_t count,
                        std::size_t me) const;

 private:
  std::size_t members_;
  std::vector<float> sums_;  // of all members, one period
};

}  // namespace fleetbench
