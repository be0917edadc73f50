#include "harness/detect/majority.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

namespace fleetbench::detect {
namespace {

constexpr double kMajority = 0.6;
// Sizes of memory differ by what firmware keeps for itself.
constexpr double kSameBytes = 0.01;

std::optional<double> number_in(std::string_view value) {
  double number = 0;
  const char* end = value.data() + value.size();
  return value.starts_with('#') && std::from_chars(value.data() + 1, end, number).ptr == end
             ? std::optional(number)
             : std::nullopt;
}

bool is_size(const std::string& path) { return path.ends_with("bytes"); }

bool same_size(double a, double b) {
  return std::abs(a - b) <= kSameBytes * std::max(std::abs(a), std::abs(b));
}

// The size that is the same as those of most nodes.
Majority majority_of_sizes(const Counts& counts) {
  struct Size {
    double bytes;
    std::string_view value;
    std::size_t nodes;
  };
  std::vector<Size> sizes;
  for (const auto& [value, nodes] : counts) {
    if (const auto bytes = number_in(value)) {
      sizes.push_back({*bytes, value, nodes});
    }
  }
  std::ranges::sort(sizes, {}, &Size::bytes);
  Majority best;
  std::size_t within = 0;
  for (std::size_t i = 0, begin = 0, end = 0; i < sizes.size(); ++i) {
    for (; end < sizes.size() && (end <= i || same_size(sizes[i].bytes, sizes[end].bytes)); ++end) {
      within += sizes[end].nodes;
    }
    for (; !same_size(sizes[begin].bytes, sizes[i].bytes); ++begin) {
      within -= sizes[begin].nodes;
    }
    if (within > best.count) {
      best = {sizes[i].value, within, 0};
    }
  }
  return best;
}

}  // namespace

bool same(const std::string& path, std::string_view a, std::string_view b) {
  if (a == b || !is_size(path)) {
    return a == b;
  }
  const auto x = number_in(a);
  const auto y = number_in(b);
  return x && y && same_size(*x, *y);
}

Majority majority_of(const std::string& path, const Counts& counts) {
  Majority best = is_size(path) ? majority_of_sizes(counts) : Majority();
  std::size_t all = 0;
  for (const auto& [value, nodes] : counts) {
    all += nodes;
    if (nodes > best.count) {
      best = {value, nodes, 0};
    }
  }
  best.of = all;
  return best;
}

bool tells(const Majority& majority) {
  return majority.of >= kFewestNodes && majority.count < majority.of &&
         static_cast<double>(majority.count) >= kMajority * static_cast<double>(majority.of);
}

}  // namespace fleetbench::detect
