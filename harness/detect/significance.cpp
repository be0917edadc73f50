#include "harness/detect/significance.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "harness/detect/normal.hpp"
#include "harness/detect/parallel.hpp"
#include "harness/detect/robust.hpp"
#include "harness/detect/student.hpp"
#include "harness/detect/tails.hpp"
#include "harness/detect/usual_tails.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kJitterWeight = 0.25;
constexpr double kLayerPart = 0.75;

std::size_t judged_rows(const Judged& judged) {
  return static_cast<std::size_t>(std::ranges::count_if(judged.rows, &Judgement::judged));
}

// Tables that share a part of the error.
using Family = std::pair<Scope, Look>;
using FamilyInLayer = std::pair<Family, Layer>;

// How many tables of single metrics a family has in a layer.
std::map<FamilyInLayer, int> count_metrics(const std::vector<Judged>& tables) {
  std::map<FamilyInLayer, int> counts;
  for (const Judged& judged : tables) {
    if (judged.table.part == Part::metric && judged_rows(judged) > 0) {
      ++counts[{{scope_of(judged.table), judged.table.look}, judged.table.info.layer}];
    }
  }
  return counts;
}

void set_shares(std::vector<Judged>& tables) {
  const auto metrics = count_metrics(tables);
  std::map<Family, std::map<Part, double>> rows;  // tests in each part of each family
  std::vector<std::pair<Family, Part>> places;
  for (const Judged& judged : tables) {
    const Family family{scope_of(judged.table), judged.table.look};
    const auto count = metrics.find({family, judged.table.info.layer});
    const bool only = count != metrics.end() && count->second == 1;
    places.emplace_back(family, only ? Part::layer : judged.table.part);
    if (const std::size_t judged_here = judged_rows(judged); judged_here > 0) {
      rows[family][places.back().second] += static_cast<double>(judged_here);
    }
  }
  double total = 0;
  for (const auto& [family, parts] : rows) {
    total += family.second == Look::jitter ? kJitterWeight : 1;
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto& [family, part] = places[i];
    if (judged_rows(tables[i]) > 0) {
      const auto& parts = rows.at(family);
      const double weight = family.second == Look::jitter ? kJitterWeight : 1;
      const double of_part = parts.size() == 1     ? 1
                             : part == Part::layer ? kLayerPart
                                                   : 1 - kLayerPart;
      tables[i].share = weight / total * of_part / parts.at(part);
    }
  }
}

// Scores under this are far from any adjusted p-value of interest: they only count.
constexpr double kWorthTesting = 2.5;

struct Test {
  double weighted = 1;  // p over its share of the error: a Bonferroni-adjusted p-value
  double* adjusted = nullptr;
};

// What all the tests of a unit speak about: a node with its devices, a link, or what nodes have in
// common, in a layer.
using Unit = std::tuple<Layer, int, int, int>;
using Units = std::map<Unit, std::vector<Test>>;

Unit unit_of(const Table& table, const Row& row) {
  return {table.info.layer, row.peer < 0 ? row.node : std::min(row.node, row.peer),
          row.peer < 0 ? -1 : std::max(row.node, row.peer), row.component};
}

double smallest(const std::vector<Test>& tests) {
  return std::ranges::min(tests, {}, &Test::weighted).weighted;
}

// Benjamini and Hochberg's step-up adjustment over units, of each of which its smallest p counts:
// many metrics of one slow subject are one discovery. The k-th smallest is divided by k, and none
// is larger than what follows it.
void step_up(Units& units) {
  std::vector<std::vector<Test>*> order;
  for (auto& [unit, tests] : units) {
    order.push_back(&tests);
  }
  std::ranges::stable_sort(order, {}, [](const auto* tests) { return smallest(*tests); });
  double least = 1;
  for (std::size_t k = order.size(); k > 0; --k) {
    const double own = smallest(*order[k - 1]);
    least = std::min(least, own / static_cast<double>(k));
    for (const Test& test : *order[k - 1]) {
      *test.adjusted = std::min(1.0, own > 0 ? test.weighted * least / own : 0);
    }
  }
}

// Links share nodes, and one slow node can make many of them slow: each is on its own.
void adjust(Units& of_nodes, Units& of_links) {
  step_up(of_nodes);
  for (auto& [unit, tests] : of_links) {
    for (const Test& test : tests) {
      *test.adjusted = std::min(1.0, test.weighted);
    }
  }
}

void adjust_all(std::vector<Judged>& tables) {
  Units slow_nodes;
  Units slow_links;
  Units fast_nodes;
  Units fast_links;
  for (Judged& judged : tables) {
    Units& slow = judged.table.of_links() ? slow_links : slow_nodes;
    Units& fast = judged.table.of_links() ? fast_links : fast_nodes;
    for (std::size_t row = 0; row < judged.rows.size(); ++row) {
      Judgement& judgement = judged.rows[row];
      if (!judgement.judged || std::abs(judgement.z) <= kWorthTesting) {
        continue;
      }
      const bool is_slow = judgement.z > 0;
      const double p = tail_probability(judged.tail, std::abs(judgement.z));
      (is_slow ? slow : fast)[unit_of(judged.table, judged.table.rows[row])].push_back(
          {p / judged.share, is_slow ? &judgement.adjusted_slow : &judgement.adjusted_fast});
    }
  }
  adjust(slow_nodes, slow_links);
  adjust(fast_nodes, fast_links);
}

// A hundred times as slow: that more is needed says that nothing can be seen.
const double kLargestVisible = std::log(100);

}  // namespace

void test_all(std::vector<Judged>& tables) {
  set_tails(tables);
  set_shares(tables);
  adjust_all(tables);
}

std::optional<double> smallest_visible(const Judged& judged, double family_error,
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
  const double z = tail_quantile(judged.tail, family_error * judged.share);
  const double visible =
      std::min(kLargestVisible, score_of_normal(z, median(std::move(degrees))) * *typical);
  return std::max(visible, std::log1p(min_effect));
}

}  // namespace fleetbench::detect
