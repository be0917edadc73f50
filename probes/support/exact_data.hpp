// What members of a collective send in its check, and what must then arrive. PURE.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "probes/support/collective_shape.hpp"

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

// A stretch of a receive buffer and what must be in it: element `place` + i is, of a list that
// repeats itself, the one at (`first` + i) % its length.
struct ExpectedPart {
  std::size_t place = 0;
  std::size_t count = 0;
  std::size_t first = 0;
  bool summed = false;  // the list: ExactData::sums(), else ExactData::values()
};

// All values are integers whose partial sums a float holds exactly, so any order of adding gives
// the same bits; and each depends on its sender and its place, so that a part that is lost, shifted
// or somebody else's is seen.
class ExactData {
 public:
  // For up to 266,000 members.
  explicit ExactData(std::size_t members);

  // Both lists have the same length, a prime. What member m sends is values() from first_of(m) on.
  const std::vector<float>& values() const { return values_; }
  const std::vector<float>& sums() const { return sums_; }
  static std::size_t first_of(std::size_t member);

  // What `member` sends.
  void fill(std::span<float> send, std::size_t member) const;

  // What member `me` must have received for `count` elements: all of its receive buffer that the
  // collective fills. Of the root of a broadcast nothing, for MPI's receives nothing.
  std::vector<ExpectedPart> expected(const CollectiveShape& shape, std::size_t count,
                                     std::size_t me) const;
  // Precondition: an element of `part`, counted from its place.
  float value_at(const ExpectedPart& part, std::size_t element) const;

  // Looks at all of that in `got`.
  WrongElements compare(const CollectiveShape& shape, std::span<const float> got, std::size_t count,
                        std::size_t me) const;

 private:
  const std::vector<float>& list_of(const ExpectedPart& part) const {
    return part.summed ? sums_ : values_;
  }

  std::size_t members_;
  std::vector<float> values_;
  std::vector<float> sums_;  // of all members
};

}  // namespace fleetbench
