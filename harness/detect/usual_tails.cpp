#include "harness/detect/usual_tails.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/detect/parallel.hpp"
#include "harness/detect/robust.hpp"
#include "harness/detect/tails.hpp"

namespace fleetbench::detect {
namespace {

// Residuals of a fit that has nearly as many parameters as values crowd around 0, which looks like
// a long tail: tables with fewer values than this a parameter do not count. Nor do those whose
// spread was assumed.
constexpr std::size_t kValuesPerParameter = 14;
constexpr std::size_t kFewestRows = 8;
// What few nodes add to their links follows from each other's.
constexpr std::size_t kFewestOfPairs = 16;

// Of rails, those of one are fitted by themselves.
std::size_t independent_rows(const Table& table) {
  std::set<int> nodes;
  if (!is_derived_from_pairs(table) || table.role == Role::shared) {
    return table.rows.size();
  }
  for (const Row& row : table.rows) {
    nodes.insert(row.node);
  }
  return nodes.size();
}

bool shows_tail(const Table& table) {
  return independent_rows(table) >= (is_derived_from_pairs(table) ? kFewestOfPairs : kFewestRows) &&
         !table.fixed_reference &&
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

}  // namespace

Scope scope_of(const Table& table) {
  return table.role == Role::shared ? Scope::shared
         : table.of_links()         ? Scope::link
         : table.of_devices()       ? Scope::device
                                    : Scope::node;
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

}  // namespace fleetbench::detect
