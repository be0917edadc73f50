#include "tests/gpu_sim/model/noise.hpp"

namespace gpu_sim {

namespace {

// The finaliser of SplitMix64.
std::uint64_t scrambled(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

}  // namespace

std::uint64_t hashed(std::string_view text, std::uint64_t number) {
  std::uint64_t hash = scrambled(number);
  for (const char c : text) {
    hash = scrambled(hash ^ static_cast<unsigned char>(c));
  }
  return hash;
}

// The sum of twelve uniform numbers less 6 has variance 1 and ends at ±6; those few beyond 3.5
// would look like faults.
double bell(std::uint64_t hash) {
  double sum = -6;
  for (std::uint64_t i = 0; i < 12; ++i) {
    sum += static_cast<double>(scrambled(hash + i) >> 11U) * 0x1p-53;
  }
  return sum > 3.5 ? 3.5 : sum < -3.5 ? -3.5 : sum;
}

}  // namespace gpu_sim
