// Random numbers that are the same on every machine and cost next to nothing to seed.
#pragma once

#include <cstdint>
#include <limits>

namespace fleetbench::images {

// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014): neighbouring seeds give unrelated sequences, so an image's number is seed enough.
class Random {
 public:
  using result_type = std::uint64_t;

  explicit Random(std::uint64_t seed) : state_(seed) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  // In [low, high).
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>((*this)() >> 11U) * 0x1p-53;
  }
  // In [0, count).
  int below(int count) {
    return static_cast<int>((*this)() % static_cast<std::uint64_t>(count < 1 ? 1 : count));
  }

 private:
  std::uint64_t state_;
};

}  // namespace fleetbench::images
