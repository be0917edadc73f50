#include "probes/mpi/exact_data.hpp"

#include <algorithm>
#include <cstring>

namespace fleetbench {
namespace {

// A prime, so that the pattern does not repeat at the boundary of a part, a chunk or a page.
constexpr std::size_t kPeriod = 1021;
// A float holds every integer up to 2^24 exactly: enough for the sum over 266,000 members.
constexpr std::size_t kValues = 64;

std::vector<float> one_period(std::size_t member) {
  std::vector<float> period(kPeriod);
  for (std::size_t i = 0; i < kPeriod; ++i) {
    period[i] = static_cast<float>((i + 37 * member) % kPeriod % kValues);
  }
  return period;
}

// Calls use(at, period's values from there, length) for the stretches of [0, size) in which element
// i is period[(first + i) % kPeriod]: whole stretches are copied and compared at memory speed.
template <typename Use>
void by_stretches(const std::vector<float>& period, std::size_t first, std::size_t size, Use use) {
  for (std::size_t at = 0; at < size;) {
    const std::size_t place = (first + at) % kPeriod;
    const std::size_t length = std::min(kPeriod - place, size - at);
    use(at, period.data() + place, length);
    at += length;
  }
}

// Elements of `got` whose place in the receive buffer begins at `place`.
void compare_part(std::span<const float> got, std::size_t place, const std::vector<float>& period,
                  std::size_t first, WrongElements& wrong) {
  by_stretches(
      period, first, got.size(), [&](std::size_t at, const float* expected, std::size_t length) {
        if (std::memcmp(got.data() + at, expected, length * sizeof(float)) == 0) {
          return;
        }
        for (std::size_t i = 0; i < length; ++i) {
          if (got[at + i] != expected[i]) {
            ++wrong.count;
            wrong.first =
                wrong.first.value_or(ElementMismatch{place + at + i, expected[i], got[at + i]});
          }
        }
      });
}

}  // namespace

ExactData::ExactData(std::size_t members) : members_(members), sums_(kPeriod, 0.0F) {
  for (std::size_t member = 0; member < members; ++member) {
    const std::vector<float> values = one_period(member);
    std::ranges::transform(sums_, values, sums_.begin(), std::plus<>());
  }
}

void ExactData::fill(std::span<float> send, std::size_t member) const {
  by_stretches(one_period(member), 0, send.size(),
               [&](std::size_t at, const float* values, std::size_t length) {
                 std::copy_n(values, length, send.begin() + static_cast<std::ptrdiff_t>(at));
               });
}

WrongElements ExactData::compare(const Collective& collective, std::span<const float> got,
                                 std::size_t count, std::size_t me) const {
  WrongElements wrong;
  const std::size_t first = collective.own_part ? me * count : 0;
  switch (collective.arrives) {
    case Collective::Arrives::summed:
      compare_part(got.first(count), 0, sums_, first, wrong);
      break;
    case Collective::Arrives::from_root:
      if (me != 0) {
        compare_part(got.first(count), 0, one_period(0), first, wrong);
      }
      break;
    case Collective::Arrives::from_each:
      for (std::size_t sender = 0; sender < members_; ++sender) {
        compare_part(got.subspan(sender * count, count), sender * count, one_period(sender), first,
                     wrong);
      }
      break;
  }
  return wrong;
}

}  // namespace fleetbench
