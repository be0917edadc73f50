#include "harness/plan/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>
#include <stdexcept>

#include "harness/plan/grouping.hpp"
#include "harness/plan/pairing.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::plan {
namespace {

using Generator = std::mt19937_64;

std::vector<Party> alone_parties(int nodes, bool sampled, Generator& generator) {
  std::vector<int> order(static_cast<std::size_t>(nodes));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), generator);
  if (sampled && nodes > kAloneLimit) {
    order.resize(kAloneSample);
  }
  std::vector<Party> parties;
  for (const int node : order) {
    parties.push_back({node});
  }
  return parties;
}

// Who starts changes with the pass, so that an order effect is no effect of a direction.
std::vector<Party> in_turn(const Round& round, int pass) {
  std::vector<Party> parties;
  for (const auto& [a, b] : round) {
    parties.push_back(pass % 2 == 0 ? Party{a, b} : Party{b, a});
  }
  return parties;
}

std::vector<std::vector<Party>> pair_rounds(const PlannedStep& step, int nodes, int pass,
                                            std::uint64_t seed, Generator& generator) {
  // The same pairs in every pass: passes are repetitions of one measurement.
  auto rounds = step.scenario.pairs == Pairs::matchings
                    ? matchings(nodes, step.scenario.matchings, seed)
                    : all_pairs(nodes);
  std::shuffle(rounds.begin(), rounds.end(), generator);
  std::vector<std::vector<Party>> result;
  for (const auto& round : rounds) {
    result.push_back(in_turn(round, pass));
  }
  return result;
}

std::vector<std::vector<Party>> group_rounds(const PlannedStep& step, int nodes, std::uint64_t seed,
                                             Generator& generator) {
  if (step.scenario.groups) {
    // The same groups in every pass, as pairs are; only the order of the rounds changes.
    auto rounds =
        shuffled_groups(nodes, step.scenario.groups->size, step.scenario.groups->rounds, seed);
    std::shuffle(rounds.begin(), rounds.end(), generator);
    return rounds;
  }
  if (nodes < 2) {
    return {};
  }
  Party all(static_cast<std::size_t>(nodes));
  std::iota(all.begin(), all.end(), 0);
  return {{all}};
}

// The rounds of one step in one pass: what each of its slots measures.
std::vector<std::vector<Party>> rounds_of(const PlannedStep& step, int nodes, int pass,
                                          std::uint64_t seed, Generator& generator) {
  switch (step.probe.participants) {
    case Participants::node:
      // The sample stays the same over the passes: it is drawn from the seed alone.
      if (step.sampled) {
        Generator sample(seed);
        return {alone_parties(nodes, true, sample)};
      }
      if (step.ramp) {
        auto parties = alone_parties(nodes, false, generator);
        parties.resize(static_cast<std::size_t>(std::min(nodes, step.ramp->nodes)));
        return {parties};
      }
      return {alone_parties(nodes, false, generator)};
    case Participants::pair:
      return pair_rounds(step, nodes, pass, seed, generator);
    case Participants::group:
      return group_rounds(step, nodes, seed, generator);
  }
  return {};
}

// What is measured at once, as far as a step says it.
struct Occasion {
  std::vector<Party> parties;
  std::string device = {};
  std::string peer_device = {};
};

// Of a step that is not concurrent each party is measured by itself.
std::vector<std::vector<Party>> at_once(const PlannedStep& step, const std::vector<Party>& round) {
  if (step.concurrent) {
    return {round};
  }
  std::vector<std::vector<Party>> result;
  for (const Party& party : round) {
    result.push_back({party});
  }
  return result;
}

// On one device after the other where the step says so.
std::vector<Occasion> on_devices(const PlannedStep& step,
                                 const std::vector<std::vector<Party>>& rounds,
                                 const std::vector<std::string>& devices) {
  const std::vector<std::string> no_device{""};
  std::vector<Occasion> result;
  for (const auto& round : rounds) {
    for (const auto& parties : at_once(step, round)) {
      for (const std::string& device : step.one_device ? devices : no_device) {
        result.push_back({.parties = parties, .device = device});
      }
    }
  }
  return result;
}

// In which the two GPUs of a pair are on different rails: the same in every pass.
std::vector<Occasion> cross_rail_rounds(const PlannedStep& step, int nodes, int pass,
                                        std::uint64_t seed,
                                        const std::vector<std::string>& devices) {
  const int wanted = is_of_rails(step) ? step.scenario.cross_rails : 0;
  if (nodes < 2 || devices.size() < 2) {
    return {};
  }
  Generator generator(seed);
  const auto rounds = matchings(nodes, wanted, generator());
  std::vector<Occasion> result;
  for (int i = 0; i < wanted; ++i) {
    const std::size_t first = generator() % devices.size();
    const std::size_t second = (first + 1 + generator() % (devices.size() - 1)) % devices.size();
    const auto& pairs = rounds[static_cast<std::size_t>(i) % rounds.size()];
    for (const auto& parties : at_once(step, in_turn(pairs, pass))) {
      result.push_back({parties, devices[pass % 2 == 0 ? first : second],
                        devices[pass % 2 == 0 ? second : first]});
    }
  }
  return result;
}

// At most: single nodes in all parties of one pass.
std::size_t members_of(const PlannedStep& step, int nodes) {
  const auto all = static_cast<std::size_t>(nodes);
  const bool drawn = step.scenario.pairs == Pairs::matchings;
  switch (step.probe.participants) {
    case Participants::node:
      return all;
    case Participants::pair:
      return all *
             ((drawn ? std::min(all, static_cast<std::size_t>(step.scenario.matchings)) : all) +
              static_cast<std::size_t>(step.scenario.cross_rails));
    case Participants::group:
      return all *
             static_cast<std::size_t>(step.scenario.groups ? step.scenario.groups->rounds : 1);
  }
  return 0;
}

void require_room(const std::vector<PlannedStep>& steps, int nodes) {
  std::size_t of_pass = 0;
  std::size_t of_run = 0;
  for (const PlannedStep& step : steps) {
    of_pass += members_of(step, nodes);
    of_run += members_of(step, nodes) * static_cast<std::size_t>(step.passes);
  }
  if (of_pass > kMostMembers) {
    throw InputError(
        fmt::format("steps: one pass over {} nodes is {} single measurements, of which {} can be "
                    "planned; say \"pairs\": \"matchings\", or leave steps out",
                    nodes, of_pass, kMostMembers));
  }
  if (of_run > kMostMembers) {
    throw InputError(fmt::format(
        "passes: all of them over {} nodes are {} single measurements, of which {} can be planned; "
        "give --passes {} at most",
        nodes, of_run, kMostMembers, kMostMembers / of_pass));
  }
}

}  // namespace

std::vector<Slot> make_slots(const std::vector<PlannedStep>& steps, int nodes, std::uint64_t seed,
                             const std::vector<std::string>& devices) {
  require_room(steps, nodes);
  Generator generator(seed);
  std::vector<Slot> slots;
  int passes = 0;
  for (const auto& step : steps) {
    passes = std::max(passes, step.passes);
  }
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (pass >= steps[i].passes) {
        continue;
      }
      const auto rounds = rounds_of(steps[i], nodes, pass, seed + i, generator);
      auto occasions = on_devices(steps[i], rounds, devices);
      std::ranges::move(cross_rail_rounds(steps[i], nodes, pass, seed + i, devices),
                        std::back_inserter(occasions));
      for (Occasion& occasion : occasions) {
        slots.push_back({.index = static_cast<int>(slots.size()),
                         .step = static_cast<int>(i),
                         .pass = pass,
                         .parties = std::move(occasion.parties),
                         .device = std::move(occasion.device),
                         .peer_device = std::move(occasion.peer_device)});
      }
    }
  }
  return slots;
}

std::vector<std::vector<Party>> rounds_of_step(const PlannedStep& step, int index, int nodes,
                                               int pass, std::uint64_t seed) {
  Generator order(seed + static_cast<std::uint64_t>(pass));
  return rounds_of(step, nodes, pass, seed + static_cast<std::uint64_t>(index), order);
}

Slot without(Slot slot, const std::vector<bool>& gone, Participants participants) {
  const auto is_gone = [&](int node) { return gone[static_cast<std::size_t>(node)]; };
  std::erase_if(slot.parties, [&](Party& party) {
    const auto before = party.size();
    std::erase_if(party, is_gone);
    switch (participants) {
      case Participants::node:
        return party.empty();
      case Participants::pair:
        return party.size() < before;
      case Participants::group:
        return party.size() < 2;
    }
    return true;
  });
  return slot;
}

std::optional<std::string> reason_without_slots(const PlannedStep& step, int nodes) {
  const auto participants = step.probe.participants;
  const bool grouped = participants == Participants::group && step.scenario.groups;
  const int fewest = grouped ? kFewestToGroup : participants == Participants::node ? 1 : 2;
  if (nodes >= fewest) {
    return std::nullopt;
  }
  return grouped ? fmt::format("{} nodes cannot be split into groups, it takes {}", nodes, fewest)
                 : fmt::format("it takes {} nodes, there {} {}", fewest, nodes == 1 ? "is" : "are",
                               nodes);
}

std::string describe(const Slot& slot, const PlannedStep& step) {
  std::string what = slot.device.empty() ? step.id : fmt::format("{} on {}", step.id, slot.device);
  if (!slot.peer_device.empty()) {
    what += fmt::format(" with {}", slot.peer_device);
  }
  if (slot.confirms) {
    return fmt::format("{} again, pair {}", what, slot.pass + 1);
  }
  return fmt::format("{}, pass {} of {}", what, slot.pass + 1, step.passes);
}

}  // namespace fleetbench::plan
