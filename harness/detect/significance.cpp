#include "harness/detect/significance.hpp"

#include <algorithm>
#include <cmath>

#include "harness/detect/student.hpp"
#include "harness/detect/tails.hpp"

namespace fleetbench::detect {
namespace {

bool is_link(const Judged& judged) { return judged.table.role == Role::link; }

// Residuals of a fit that has nearly as many parameters as values crowd around 0, which looks like
// a long tail: tables with fewer values than this a parameter do not count.
constexpr std::size_t kValuesPerParameter = 16;

bool shows_tail(const Table& table) {
  return table.rows.size() >= kValuesPerParameter * static_cast<std::size_t>(table.fitted);
}

// Nodes of one layer share a tail, and so do its links: one table alone has too few values.
void set_degrees(std::vector<Judged>& tables, Layer layer, bool links) {
  std::vector<Judgement*> group;
  std::vector<double> scores;
  for (Judged& judged : tables) {
    if (judged.table.info.layer == layer && is_link(judged) == links) {
      for (Judgement& judgement : judged.rows) {
        if (judgement.judged) {
          group.push_back(&judgement);
          if (shows_tail(judged.table)) {
            scores.push_back(judgement.slowdown / judgement.scale);
          }
        }
      }
    }
  }
  const double tail = tail_degrees(scores);
  for (Judgement* judgement : group) {
    judgement->degrees = std::min(judgement->degrees, tail);
    judgement->p_slow = student_tail(judgement->score, judgement->degrees);
    judgement->p_fast = student_tail(-judgement->score, judgement->degrees);
  }
}

void adjust(std::vector<Judged>& tables, bool links) {
  std::vector<Judgement*> tested;
  std::vector<double> slow;
  std::vector<double> fast;
  for (Judged& judged : tables) {
    if (is_link(judged) != links) {
      continue;
    }
    for (Judgement& judgement : judged.rows) {
      if (judgement.judged) {
        tested.push_back(&judgement);
        slow.push_back(judgement.p_slow);
        fast.push_back(judgement.p_fast);
      }
    }
  }
  slow = holm(slow);
  fast = holm(fast);
  const double weight =
      static_cast<double>(weighted_tests(tables, links)) / static_cast<double>(tested.size());
  for (std::size_t i = 0; i < tested.size(); ++i) {
    tested[i]->adjusted_slow = std::min(1.0, weight * slow[i]);
    tested[i]->adjusted_fast = std::min(1.0, weight * fast[i]);
  }
}

}  // namespace

// Nodes and links each have half of the permitted error: links are so many more that nodes, which
// are what most faults are about, would otherwise be tested at a level that grows with their
// square.
std::size_t weighted_tests(const std::vector<Judged>& tables, bool links) {
  std::size_t tests = 0;
  bool both = false;
  for (const Judged& judged : tables) {
    const auto count = std::ranges::count_if(judged.rows, &Judgement::judged);
    const bool same = is_link(judged) == links;
    tests += same ? static_cast<std::size_t>(count) : 0;
    both = both || (!same && count > 0);
  }
  return both ? 2 * tests : tests;
}

void test_all(std::vector<Judged>& tables) {
  for (const Layer layer : all_layers()) {
    set_degrees(tables, layer, false);
    set_degrees(tables, layer, true);
  }
  adjust(tables, false);
  adjust(tables, true);
}

std::optional<double> smallest_visible(const Judged& judged, std::size_t tests, double family_error,
                                       double min_effect) {
  std::vector<double> scales;
  std::vector<double> degrees;
  for (const Judgement& judgement : judged.rows) {
    if (judgement.judged) {
      scales.push_back(judgement.scale);
      degrees.push_back(judgement.degrees);
    }
  }
  if (scales.empty()) {
    return std::nullopt;
  }
  // Not the median: among three nodes a slow one spoils the scale of the other two.
  const auto typical = scales.begin() + std::ssize(scales) / 4;
  std::nth_element(scales.begin(), typical, scales.end());
  const double p = family_error / static_cast<double>(tests);
  const double visible = student_quantile(p, median(std::move(degrees))) * *typical;
  return std::max(visible, std::log1p(min_effect));
}

}  // namespace fleetbench::detect
