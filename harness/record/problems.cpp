#include "harness/record/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace fleetbench::record {
namespace {

constexpr std::size_t kMostTold = 1000;

}  // namespace

void Problems::add(Problem problem) {
  if (kept.size() < kMostKept) {
    kept.push_back(std::move(problem));
  } else {
    ++more;
  }
}

std::vector<Problem> in_order(Problems all, const std::vector<std::string>& files) {
  std::unordered_map<std::string, std::size_t> places;
  for (const std::string& file : files) {
    places.try_emplace(file, places.size());
  }
  std::vector<Problem> problems = std::move(all.kept);
  std::ranges::stable_sort(problems, {}, [&places](const Problem& problem) {
    return std::pair(places[problem.file], problem.line);
  });
  if (problems.size() > kMostTold) {
    const Problem& next = problems[kMostTold];
    problems[kMostTold] = {
        "too_many", next.file, next.line,
        fmt::format("and {} more from here on", problems.size() + all.more - kMostTold)};
    problems.resize(kMostTold + 1);
  }
  return problems;
}

}  // namespace fleetbench::record
