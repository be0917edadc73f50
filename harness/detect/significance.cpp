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

namespace fleetbench::detect {
namespace {

enum class Scope { node, device, link };

Scope scope_of(const Table& table) {
  return table.of_links() ? Scope::link : table.of_devices() ? Scope::device : Scope::node;
}

// Residuals of a fit that has nearly as many parameters as values crowd around 0, which looks like
// a long tail: tables with fewer values than this a parameter do not count. Nor do those whose
// spread was assumed.
constexpr std::size_t kValuesPerParameter = 16;
constexpr std::size_t kFewestRows = 8;
// What few nodes add to their links follows from each other's.
constexpr std::size_t kFewestOfPairs = 16;

bool shows_tail(const Table& table) {
  const bool of_pairs = table.role != Role::own && !table.of_links();
  return table.rows.size() >= (of_pairs ? kFewestOfPairs : kFewestRows) && !table.fixed_reference &&
         table.rows.size() >= kValuesPerParameter * static_cast<std::size_t>(table.fitted);
}

// Tables whose scores are expected to have similar tails.
using Kind = std::tuple<Scope, Look, bool>;

Kind kind_of(const Table& table) { return {scope_of(table), table.look, table.role == Role::own}; }

// Where spreads are known well, long tails of the subjects show in the scores as they are. Where
// they are estimated from few, scores have long tails already, which is accounted for, and those of
// the subjects hardly lengthen them.
constexpr double kExpectedDegrees = 45;
constexpr double kMostExpected = 100;
constexpr double kManyPeers = 12;
constexpr double kRunLogSigma = 0.7;
constexpr double kUnseenDegrees = 20;  // where spreads are known and tails are not

TailPrior believed(double degrees) {
  const double longer = std::max(1.0, kManyPeers / std::max(1.0, degrees));
  return expected_tail(std::min(kMostExpected, kExpectedDegrees * longer), kRunLogSigma / longer);
}

// Of the spreads behind the scores.
double typical_degrees(const std::vector<const Judged*>& tables) {
  std::vector<double> degrees;
  for (const Judged* judged : tables) {
    for (const Judgement& judgement : judged->rows) {
      if (judgement.judged) {
        degrees.push_back(judgement.degrees);
        break;  // nearly the same in all rows
      }
    }
  }
  return median(std::move(degrees));
}

void add_scores(const Judged& judged, std::vector<double>& scores) {
  if (shows_tail(judged.table) && !judged.floored) {
    for (const Judgement& judgement : judged.rows) {
      if (judgement.judged) {
        scores.push_back(judgement.z);
      }
    }
  }
}

// From fewer scores no tail is learnt.
constexpr std::size_t kFewestScores = 60;

// Of the single metrics of each kind.
struct KindOfTail {
  TailPrior prior;
  bool learnt = false;
};

std::map<Kind, KindOfTail> usual_tails(const std::vector<Judged>& tables) {
  std::map<Kind, std::vector<std::vector<double>>> scores;
  std::map<Kind, std::vector<const Judged*>> metrics;
  for (const Judged& judged : tables) {
    if (judged.table.part == Part::metric) {
      metrics[kind_of(judged.table)].push_back(&judged);
      std::vector<double> of_metric;
      add_scores(judged, of_metric);
      if (!of_metric.empty()) {
        scores[kind_of(judged.table)].push_back(std::move(of_metric));
      }
    }
  }
  std::map<Kind, KindOfTail> tails;
  for (const auto& [kind, of_kind] : metrics) {
    std::size_t count = 0;
    for (const auto& of_metric : scores[kind]) {
      count += of_metric.size();
    }
    KindOfTail& tail = tails[kind];
    const double degrees = typical_degrees(of_kind);
    tail.prior = believed(degrees);
    tail.learnt = count >= kFewestScores;
    if (tail.learnt) {
      tail.prior = learn_tails(scores[kind], tail.prior);
    } else if (degrees >= kManyPeers) {
      tail.prior = expected_tail(kUnseenDegrees, kRunLogSigma);
    }
  }
  return tails;
}

// That of a layer's average is the one of what it averages: of its metrics, or, where only pairs
// were measured, of what these tell of nodes.
const KindOfTail& tail_for(const Table& table, const std::map<Kind, KindOfTail>& tails) {
  const auto [scope, look, own] = kind_of(table);
  const auto found = tails.find({scope, look, own});
  return found != tails.end() ? found->second : tails.at({scope, look, !own});
}

void set_tails(std::vector<Judged>& tables) {
  const std::map<Kind, KindOfTail> tails = usual_tails(tables);
  for_each_index(tables.size(), [&](std::size_t i) {
    const KindOfTail& of_metrics = tail_for(tables[i].table, tails);
    std::vector<double> scores;
    if (of_metrics.learnt) {
      add_scores(tables[i], scores);
    }
    tables[i].tail = fit_tail(scores, of_metrics.prior);
  });
}

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

// What all the tests of a unit speak about: a node with its devices, or a link, in a layer.
using Unit = std::tuple<Layer, int, int>;
using Units = std::map<Unit, std::vector<Test>>;

Unit unit_of(const Table& table, const Row& row) {
  return {table.info.layer, row.peer < 0 ? row.node : std::min(row.node, row.peer),
          row.peer < 0 ? -1 : std::max(row.node, row.peer)};
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
