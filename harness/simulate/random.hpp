// Random numbers of a simulated fleet.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "harness/simulate/spec.hpp"

namespace fleetbench::simulation {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
    engine_.seed(words);
  }

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  // 0 to count - 1.
  int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(engine_); }
  bool chance(double probability) { return uniform(0, 1) < probability; }
  double normal() { return normal_(engine_); }
  // With standard deviation 1.
  double deviate(Tails tails) {
    return tails == Tails::t4 ? student_(engine_) / std::sqrt(2.0) : normal();
  }
  template <typename T>
  const T& one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }
  // `chosen` different ones of 0 to count - 1, in random order.
  std::vector<int> some_of(int count, int chosen) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    for (int i = 0; i < chosen; ++i) {
      std::swap(all[i], all[i + below(count - i)]);
    }
    all.resize(static_cast<std::size_t>(chosen));
    return all;
  }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> student_{4};
};

}  // namespace fleetbench::simulation
