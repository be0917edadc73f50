#include "harness/plan/deadline.hpp"

#include <algorithm>

#include "harness/plan/upper_median.hpp"

namespace fleetbench::plan {
namespace {

constexpr double kGraceOfAll = 3;

double grace_s(double typical_s) { return std::max(kGrace_s, 3 * typical_s); }

}  // namespace

double deadline_s(std::vector<double> answered_s, int asked, const std::vector<double>& history_s,
                  double limit_s) {
  const int tolerated = std::max(1, asked / 10);
  const auto enough = static_cast<std::size_t>(std::max(1, asked - tolerated));
  if (answered_s.size() >= enough) {
    std::sort(answered_s.begin(), answered_s.end());
    return std::min(limit_s, answered_s[enough - 1] + grace_s(upper_median(answered_s)));
  }
  if (history_s.size() >= 2) {
    const double typical_s = upper_median(history_s);
    // Where all are late at once it is hardly the fault of any: then the past tells less.
    const double times = asked > 1 && answered_s.empty() ? kGraceOfAll : 1;
    return std::min(limit_s, typical_s + times * grace_s(typical_s));
  }
  return limit_s;
}

}  // namespace fleetbench::plan
