#include "tests/bench/detection/tally.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fleetbench::bench {
namespace {

constexpr double kErrorsOfOne = 3;
constexpr double kErrorsOfAll = 2;

}  // namespace

Acceptance::Claim& Acceptance::claim(const std::string& text) {
  const auto known = std::ranges::find(claims_, text, &Claim::text);
  if (known != claims_.end()) {
    return *known;
  }
  claims_.push_back({text, {}, ""});
  return claims_.back();
}

void Acceptance::add(const std::string& text, const std::string& where, double over, double error) {
  claim(text).cells.push_back({where, over, error});
}

void Acceptance::skip(const std::string& text, const std::string& why) {
  claim(text).skipped = why;
}

bool Acceptance::holds(const Claim& claim) {
  double over = 0;
  double variance = 0;
  for (const Cell& cell : claim.cells) {
    if (cell.over > kErrorsOfOne * cell.error + 1e-12) {
      return false;
    }
    over += cell.over;
    variance += cell.error * cell.error;
  }
  return over <= kErrorsOfAll * std::sqrt(variance) + 1e-12;
}

bool Acceptance::print() const {
  bool all = true;
  for (const Claim& claim : claims_) {
    if (!claim.skipped.empty()) {
      fmt::print("skipped: {} ({})\n", claim.text, claim.skipped);
      continue;
    }
    const bool good = holds(claim);
    all = all && good;
    const Cell& worst = *std::ranges::max_element(claim.cells, {}, &Cell::over);
    fmt::print("{}  {}: in {} cells; worst {:+.2f} points beyond the limit (± {:.2f}), {}\n",
               good ? "PASS" : "FAIL", claim.text, claim.cells.size(), 100 * worst.over,
               100 * worst.error, worst.where);
  }
  return all;
}

}  // namespace fleetbench::bench
