#include "probes/support/exact_data.hpp"

#include <algorithm>
#include <cstring>

namespace fleetbench {
namespace {

// A prime, so that the pattern does not repeat at the boundary of a part, a chunk or a page.
constexpr std::size_t kPeriod = 1021;
// A float holds every integer up to 2^24 exactly: enough for the sum over 266,000 members.
constexpr std::size_t kValues = 64;

// Calls use(at, list from there, length) for the stretches of [0, size) in which element i is
// list[(first + i) % kPeriod]: whole stretches are copied and compared at memory speed.
template <typename Use>
void by_stretches(const std::vector<float>& list, std::size_t first, std::size_t size, Use use) {
  for (std::size_t at = 0; at < size;) {
    const std::size_t place = (first + at) % kPeriod;
    const std::size_t length = std::min(kPeriod - place, size - at);
    use(at, list.data() + place, length);
    at += length;
  }
}

}  // namespace

ExactData::ExactData(std::size_t members)
    : members_(members), values_(kPeriod), sums_(kPeriod, 0.0F) {
  for (std::size_t i = 0; i < kPeriod; ++i) {
    values_[i] = static_cast<float>(i % kValues);
  }
  for (std::size_t member = 0; member < members; ++member) {
    for (std::size_t i = 0; i < kPeriod; ++i) {
      sums_[i] += values_[(first_of(member) + i) % kPeriod];
    }
  }
}

std::size_t ExactData::first_of(std::size_t member) { return 37 * member % kPeriod; }

void ExactData::fill(std::span<float> send, std::size_t member) const {
  by_stretches(values_, first_of(member), send.size(),
               [&](std::size_t at, const float* values, std::size_t length) {
                 std::copy_n(values, length, send.begin() + static_cast<std::ptrdiff_t>(at));
               });
}

std::vector<ExpectedPart> ExactData::expected(const CollectiveShape& shape, std::size_t count,
                                              std::size_t me) const {
  const std::size_t first = shape.own_part ? me * count : 0;
  const auto sent_by = [&](std::size_t sender, std::size_t place) {
    return ExpectedPart{place, count, first + first_of(sender), false};
  };
  const ExpectedPart summed{0, count, first, true};
  std::vector<ExpectedPart> parts;
  switch (shape.arrives) {
    case CollectiveShape::Arrives::summed:
      return {summed};
    case CollectiveShape::Arrives::summed_at_root:
      return me == 0 ? std::vector{summed} : parts;
    case CollectiveShape::Arrives::from_root:
      return me == 0 ? parts : std::vector{sent_by(0, 0)};
    case CollectiveShape::Arrives::from_previous:
      return {sent_by((me + members_ - 1) % members_, 0)};
    case CollectiveShape::Arrives::from_each:
      for (std::size_t sender = 0; sender < members_; ++sender) {
        parts.push_back(sent_by(sender, sender * count));
      }
  }
  return parts;
}

float ExactData::value_at(const ExpectedPart& part, std::size_t element) const {
  return list_of(part)[(part.first + element) % kPeriod];
}

WrongElements ExactData::compare(const CollectiveShape& shape, std::span<const float> got,
                                 std::size_t count, std::size_t me) const {
  WrongElements wrong;
  for (const ExpectedPart& part : expected(shape, count, me)) {
    const float* const begin = got.data() + part.place;
    by_stretches(list_of(part), part.first, part.count,
                 [&](std::size_t at, const float* expected, std::size_t length) {
                   if (std::memcmp(begin + at, expected, length * sizeof(float)) == 0) {
                     return;
                   }
                   for (std::size_t i = 0; i < length; ++i) {
                     if (begin[at + i] != expected[i]) {
                       ++wrong.count;
                       wrong.first = wrong.first.value_or(
                           ElementMismatch{part.place + at + i, expected[i], begin[at + i]});
                     }
                   }
                 });
  }
  return wrong;
}

}  // namespace fleetbench
