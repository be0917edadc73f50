#include "tests/gpu/reference.hpp"

#include <algorithm>
#include <cmath>

#include "tests/gpu/error_bound.hpp"

namespace fleetbench::gpu {

Reference reference_of(std::string_view precision, const HostMatrix& a, const HostMatrix& b) {
  const int n = static_cast<int>(a.n());
  Reference reference{.exact = transposed_product(a, b), .bounds = HostMatrix(n)};
  const auto of_a = column_norms(a);
  const auto of_b = column_norms(b);
  const Rounding rounding = rounding_of(precision);
  for (std::size_t column = 0; column < a.n(); ++column) {
    for (std::size_t row = 0; row < a.n(); ++row) {
      reference.bounds.at(row, column) =
          error_bound(rounding, n, of_a[row] * of_b[column], reference.exact.at(row, column));
    }
  }
  return reference;
}

Farthest farthest(const HostMatrix& found, const Reference& reference) {
  Farthest worst;
  for (std::size_t column = 0; column < found.n(); ++column) {
    for (std::size_t row = 0; row < found.n(); ++row) {
      const double error = std::abs(found.at(row, column) - reference.exact.at(row, column));
      const Farthest here{error / reference.bounds.at(row, column), row, column};
      if (std::isnan(here.error_of_bound)) {
        return here;
      }
      worst = here.error_of_bound > worst.error_of_bound ? here : worst;
    }
  }
  return worst;
}

double sharpness(const Reference& reference) {
  double squares = 0;
  double bound = 0;
  for (std::size_t column = 0; column < reference.exact.n(); ++column) {
    for (std::size_t row = 0; row < reference.exact.n(); ++row) {
      squares += std::pow(reference.exact.at(row, column), 2);
      bound = std::max(bound, reference.bounds.at(row, column));
    }
  }
  return bound * static_cast<double>(reference.exact.n()) / std::sqrt(squares);
}

}  // namespace fleetbench::gpu
