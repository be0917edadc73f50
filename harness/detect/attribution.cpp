#include "harness/detect/attribution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/detect/pair_case.hpp"

namespace fleetbench::detect {
namespace {

// Whom another metric named is preferred by so much.
constexpr double kNamedBefore = 1.25;
// Of the minimum effect, that has to be left unexplained: a hit was estimated against other pairs.
constexpr double kShareOfLeast = 0.5;
constexpr std::size_t kMostPairsTold = 16;
constexpr std::size_t kMostMetricsTold = 6;

bool is_of_pairs(const Table& table) {
  return table.look == Look::measured && table.part == Part::metric &&
         (table.of_links() || is_derived_from_pairs(table));
}

// Of a layer: the tables of pairs and groups, and whether nodes were measured otherwise as well.
struct LayerCases {
  std::vector<const Judged*> tables;
  bool others = false;
};

LayerCases cases_of(const Evaluated& evaluated, Layer layer) {
  LayerCases cases;
  for (const Judged& judged : evaluated.tables) {
    const Table& table = judged.table;
    if (table.info.layer != layer || table.part != Part::metric || table.look != Look::measured) {
      continue;
    }
    if (table.of_links() || (table.of_groups() && table.role == Role::own)) {
      cases.tables.push_back(&judged);
    } else if (table.role == Role::own) {
      cases.others = true;
    }
  }
  return cases;
}

std::vector<Accused> accused_in(const Hits& hits, Layer layer, bool averages_too) {
  std::vector<Accused> accused;
  for (const auto& [key, of_subject] : hits) {
    const bool wanted = std::ranges::any_of(of_subject, [&](const Hit& hit) {
      return is_of_pairs(hit.table()) || (averages_too && hit.table().part == Part::layer);
    });
    if (std::get<0>(key) == layer && wanted) {
      accused.push_back({key, &of_subject});
    }
  }
  return accused;
}

std::string name_of(const Evaluated& evaluated, const Accused& accused) {
  return describe(
      subject_of(evaluated.names, accused.hits->front().table(), accused.hits->front().subject()));
}

// Whom one metric names.
struct Outcome {
  PairCase pair_case;
  std::vector<Culprit> chosen;
};

class Attribution {
 public:
  Attribution(const Evaluated& evaluated, std::vector<Accused> accused)
      : evaluated_(evaluated), accused_(std::move(accused)), named_(accused_.size()) {}

  void hear(const std::vector<const Judged*>& tables, double least_effect) {
    for (const Judged* judged : tables) {
      outcomes_.push_back({PairCase(*judged, evaluated_.names, accused_), {}});
    }
    std::ranges::stable_sort(
        outcomes_, {}, [](const Outcome& outcome) { return outcome.pair_case.ports_a_row(); });
    std::vector<double> weights(accused_.size(), 1);
    for (Outcome& outcome : outcomes_) {
      outcome.chosen = outcome.pair_case.cover(weights, least_effect);
      for (const Culprit& chosen : outcome.chosen) {
        weights[chosen.candidate] = kNamedBefore;
      }
    }
    for (const Outcome& outcome : outcomes_) {
      for (std::size_t c = 0; c < outcome.chosen.size(); ++c) {
        tell(outcome, c);
      }
    }
  }

  const std::vector<Accused>& accused() const { return accused_; }
  const Named& named(std::size_t a) const { return named_[a]; }

  // Whether a hit is one that the cover of its metric needs.
  bool stands(std::size_t a, const Hit& hit) const {
    for (const Outcome& outcome : outcomes_) {
      if (is_made_from(hit.table(), outcome.pair_case.table())) {
        return std::ranges::any_of(outcome.chosen, [a](const Culprit& chosen) {
          return chosen.candidate == static_cast<int>(a);
        });
      }
    }
    return named_[a].gain > 0;
  }

 private:
  void tell(const Outcome& outcome, std::size_t c) {
    const Culprit& chosen = outcome.chosen[c];
    const Accused& accused = accused_[chosen.candidate];
    Named& named = named_[chosen.candidate];
    const Counts counts = outcome.pair_case.counts_of(outcome.chosen, c);
    if (chosen.gain > named.gain) {
      named.gain = chosen.gain;
      named.counts = counts;
    }
    if (accused.row().peer < 0 && named.metrics < kMostMetricsTold) {
      ++named.metrics;
      add(outcome, named, counts_text(outcome.pair_case.table(), accused, counts));
    }
    tell_of_shared(outcome, chosen, accused, named);
    tell_what_is_alike(outcome, chosen, accused, named);
  }

  static void add(const Outcome& outcome, Named& named, std::string text) {
    const std::string& step = outcome.pair_case.table().step_id;
    const bool told = std::ranges::any_of(
        named.evidence, [&](const Evidence& evidence) { return evidence.text == text; });
    if (!told) {
      named.evidence.push_back({std::move(text), step});
    }
  }

  // "27 of 30 pairs with node003 rail 9d slow, 0 of 101 others (nccl.alltoall)"
  std::string counts_text(const Table& table, const Accused& accused, const Counts& counts) const {
    const int component = accused.row().component;
    const bool leaving = component >= 0 && evaluated_.names.components[component].leaving;
    const std::string who = name_of(evaluated_, accused);
    return fmt::format("{} of {} {} {} slow, {} of {} others ({})", counts.slow_touching,
                       counts.touching, table.of_groups() ? "groups" : "pairs",
                       leaving ? fmt::format("between {} and the rest", who) : "with " + who,
                       counts.slow_others, counts.others, table.metric);
  }

  void tell_of_shared(const Outcome& outcome, const Culprit& chosen, const Accused& accused,
                      Named& named) const {
    if (accused.row().component < 0) {
      return;
    }
    const Component& component = evaluated_.names.components[accused.row().component];
    if (component.device < 0) {
      const std::vector<int> slow = outcome.pair_case.slow_nodes(chosen.effect);
      const auto below =
          std::ranges::count_if(slow, [&](int node) { return component.nodes[node]; });
      add(outcome, named,
          fmt::format("{} of {} slow nodes hang on {}", below, slow.size(),
                      component.subject.switch_name));
      return;
    }
    // Once for all sizes of a collective.
    const std::string& step = outcome.pair_case.table().step_id;
    const bool told = std::ranges::any_of(named.evidence, [&](const Evidence& evidence) {
      return evidence.source == step && evidence.text.starts_with("slow in ");
    });
    const std::vector<std::string> pairs = outcome.pair_case.slow_pairs(chosen);
    if (!told && pairs.size() <= kMostPairsTold) {
      add(outcome, named,
          fmt::format("slow in {}: {}", outcome.pair_case.table().metric, fmt::join(pairs, ", ")));
    }
  }

  void tell_what_is_alike(const Outcome& outcome, const Culprit& chosen, const Accused& accused,
                          Named& named) const {
    std::vector<std::string> rivals;
    for (const int rival : chosen.rivals) {
      rivals.push_back(name_of(evaluated_, accused_[rival]));
    }
    if (!rivals.empty()) {
      add(outcome, named,
          fmt::format("cannot be told from {}: the same pairs touch both",
                      fmt::join(rivals, ", ")));
    }
    const Row& row = accused.row();
    if (row.peer >= 0 && row.ends >= 0) {
      tell_of_ends(outcome, row, named);
    } else if (row.component < 0 && row.device >= 0 &&
               outcome.pair_case.devices_of(row.node).size() == 1) {
      add(outcome, named,
          fmt::format("{} was measured by {} alone: whether its other rails are slow too is not "
                      "known",
                      evaluated_.names.nodes[row.node], evaluated_.names.devices[row.device]));
    } else if (row.component < 0 && row.peer < 0 && row.device < 0) {
      tell_of_lonely_switch(outcome, row.node, named);
    }
  }

  // A device that met one partner only: the link, or the device, or what lies between.
  void tell_of_ends(const Outcome& outcome, const Row& row, Named& named) const {
    for (const Port& port : evaluated_.names.ends[row.ends]) {
      if (outcome.pair_case.partners_of(port) == 1) {
        add(outcome, named,
            fmt::format("{} of {} met no other partner: the link cannot be told from that rail",
                        evaluated_.names.devices[port.device], evaluated_.names.nodes[port.node]));
      }
    }
  }

  void tell_of_lonely_switch(const Outcome& outcome, int node, Named& named) const {
    for (const Component& component : evaluated_.names.components) {
      if (component.device < 0 && !component.leaving && component.nodes[node] &&
          std::ranges::count(component.nodes, true) == 1) {
        add(outcome, named,
            fmt::format("only {} of the nodes measured hangs on {}: a slow switch cannot be told "
                        "from it",
                        evaluated_.names.nodes[node], component.subject.switch_name));
      }
    }
  }

  const Evaluated& evaluated_;
  std::vector<Accused> accused_;
  std::vector<Named> named_;
  std::vector<Outcome> outcomes_;
};

// What a switch or a rail does to all its pairs and to those that leave it is one finding.
void join_variants(const Names& names, Hits& hits, std::map<Key, Named>& named) {
  for (auto entry = hits.begin(); entry != hits.end();) {
    const auto& [layer, node, peer, place] = entry->first;
    const int component = node < 0 && peer < 0 && !entry->second.empty()
                              ? entry->second.front().subject().component
                              : -1;
    const Key whole(layer, node, peer, place - 1);
    const auto found =
        component > 0 && names.components[component].leaving ? hits.find(whole) : hits.end();
    if (found == hits.end() || found->second.empty()) {
      ++entry;
      continue;
    }
    found->second.insert(found->second.end(), entry->second.begin(), entry->second.end());
    Named& of_whole = named[whole];
    const Named& of_leaving = named[entry->first];
    if (of_leaving.gain > of_whole.gain) {
      of_whole.counts = of_leaving.counts;
      of_whole.gain = of_leaving.gain;
    }
    of_whole.evidence.insert(of_whole.evidence.end(), of_leaving.evidence.begin(),
                             of_leaving.evidence.end());
    named.erase(entry->first);
    entry = hits.erase(entry);
  }
}

}  // namespace

std::map<Key, Named> attribute(const Evaluated& evaluated, const DetectOptions& options,
                               Hits& hits) {
  std::set<Layer> layers;
  for (const auto& [key, of_subject] : hits) {
    layers.insert(std::get<0>(key));
  }
  std::map<Key, Named> result;
  for (const Layer layer : layers) {
    const LayerCases cases = cases_of(evaluated, layer);
    if (cases.tables.empty()) {
      continue;
    }
    Attribution attribution(evaluated, accused_in(hits, layer, !cases.others));
    attribution.hear(cases.tables, kShareOfLeast * std::log1p(min_effect(options, layer)));
    for (std::size_t a = 0; a < attribution.accused().size(); ++a) {
      const Key key = attribution.accused()[a].key;
      std::vector<Hit>& of_subject = hits.at(key);
      std::erase_if(of_subject, [&](const Hit& hit) {
        const bool concerned =
            is_of_pairs(hit.table()) || (!cases.others && hit.table().part == Part::layer);
        return concerned && !attribution.stands(a, hit);
      });
      if (attribution.named(a).gain > 0) {
        result[key] = attribution.named(a);
      }
    }
  }
  std::erase_if(hits, [](const auto& entry) { return entry.second.empty(); });
  join_variants(evaluated.names, hits, result);
  return result;
}

}  // namespace fleetbench::detect
