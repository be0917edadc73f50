#include "harness/detect/name_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fleetbench::detect {

std::string list_of(const std::vector<std::string>& names, std::size_t most) {
  const std::size_t told = std::min(names.size(), most);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(told);
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "),
                     told < names.size() ? fmt::format(" and {} more", names.size() - told) : "");
}

}  // namespace fleetbench::detect
