#include "tests/gpu/error_bound.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace fleetbench::gpu {

Rounding rounding_of(std::string_view precision) {
  struct Named {
    std::string_view name;
    Rounding rounding;
  };
  static constexpr Named kAll[]{
      {"fp32", {.input = 0, .sum = 0x1p-24, .output = 0}},
      {"tf32", {.input = 0x1p-10, .sum = 0x1p-23, .output = 0}},
      {"fp16", {.input = 0, .sum = 0x1p-23, .output = 0x1p-11}},
      {"bf16", {.input = 0, .sum = 0x1p-23, .output = 0x1p-8}},
      {"fp8", {.input = 0, .sum = 0x1p-13, .output = 0x1p-8}},
  };
  for (const auto& [name, rounding] : kAll) {
    if (name == precision) {
      return rounding;
    }
  }
  throw std::invalid_argument(fmt::format("how \"{}\" rounds is not known", precision));
}

double error_bound(const Rounding& rounding, int length, double norms, double exact) {
  const double k = 2 * rounding.input + 2.0 * length * rounding.sum;
  if (k >= 1) {
    return std::numeric_limits<double>::infinity();
  }
  const double of_sum = k / (1 - k) * norms;
  return of_sum + rounding.output * (std::abs(exact) + of_sum);
}

}  // namespace fleetbench::gpu
