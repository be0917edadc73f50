#include "harness/record/imported_samples.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fleetbench::record {

std::string Problem::text() const {
  return line > 0 ? fmt::format("{}:{}: {}", file, line, message)
                  : fmt::format("{}: {}", file, message);
}

std::string title_of(const std::vector<std::string>& files) {
  constexpr std::size_t kMostNamed = 5;
  return files.size() <= kMostNamed
             ? fmt::format("{}", fmt::join(files, ", "))
             : fmt::format("{} and {} more files", files.front(), files.size() - 1);
}

}  // namespace fleetbench::record
