#include "harness/plan/confirmation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "harness/plan/upper_median.hpp"

namespace fleetbench::plan {
namespace {

constexpr const char* kShared =
    "it loads what all nodes share, which is not done twice, to do no harm";
constexpr const char* kNoPartner = "there is no sound node to measure pairs with";

// Added to the run's seed; no step's position is as large.
constexpr std::uint64_t kDrawnAnew = 1'000'000;

// What a slot measures.
struct Round {
  std::vector<Party> parties;
  std::string device = {};  // of a step that measures one at a time

  bool operator==(const Round&) const = default;
};
using Rounds = std::vector<Round>;

bool has(const Party& party, int node) { return std::ranges::count(party, node) > 0; }

// In which of the parties the node is.
const Party* party_of(const std::vector<Party>& parties, int node) {
  const auto found = std::ranges::find_if(parties, [&](const Party& p) { return has(p, node); });
  return found == parties.end() ? nullptr : &*found;
}

// How long a node was busy with a step in a slot, in the median.
class Durations {
 public:
  Durations(const RunData& run, int step) {
    std::map<int, std::vector<double>> by_node;
    for (const SampleRecord& sample : run.samples) {
      if (sample.step == step && sample.status == Status::ok) {
        by_node[sample.node].push_back(sample.prepare_s + sample.measure_s);
      }
    }
    for (auto& [node, values] : by_node) {
      of_node_[node] = upper_median(std::move(values));
    }
  }

  double of(const std::vector<Party>& parties) const {
    double longest_s = 0;
    for (const Party& party : parties) {
      for (const int node : party) {
        const auto found = of_node_.find(node);
        longest_s = std::max(longest_s, found == of_node_.end() ? 0 : found->second);
      }
    }
    return longest_s;
  }

 private:
  std::map<int, double> of_node_;
};

// The slots of one suspect, pair by pair: one slot where both are in it, else two.
class Rematch {
 public:
  Rematch(const PlannedStep& step, int nodes, const ConfirmRecord& suspect,
          const ConfirmOptions& options)
      : step_(step),
        index_(suspect.step),
        nodes_(nodes),
        pairs_(suspect.pairs),
        solo_(suspect.solo),
        compared_(suspect.compared.front()),
        options_(options) {}

  // By pair; empty where it cannot be done.
  std::vector<Rounds> pairs() const {
    if (step_.probe.participants == Participants::pair) {
      return compared_.peer ? links() : nodes_in_pairs();
    }
    std::vector<Rounds> result;
    for (int pass = 0; static_cast<int>(result.size()) < pairs_; ++pass) {
      const auto of_pass = rounds(pass);
      if (of_pass.empty()) {
        return {};
      }
      for (const auto& parties : of_pass) {
        result.push_back(on_devices(step_.concurrent ? Rounds{{parties}} : in_turns(parties)));
      }
    }
    result.resize(static_cast<std::size_t>(pairs_));
    return take_turns(std::move(result));
  }

 private:
  std::vector<std::vector<Party>> rounds(int pass) const {
    return rounds_of_step(step_, index_, nodes_, pass, options_.seed);
  }

  // The two by themselves; in one slot where they measure with each other.
  Rounds in_turns(const std::vector<Party>& parties) const {
    const Party* suspect = party_of(parties, compared_.node);
    const Party* reference = party_of(parties, compared_.reference);
    if (suspect == nullptr || reference == nullptr) {
      return {};
    }
    return suspect == reference ? Rounds{{{*suspect}}} : Rounds{{{*suspect}}, {{*reference}}};
  }

  // In a step that measures one device at a time: the suspect's alone, a node's all in turn.
  Rounds on_devices(Rounds slots) const {
    if (!step_.one_device) {
      return slots;
    }
    const std::vector<std::string> own{compared_.device};
    Rounds result;
    for (const Round& slot : slots) {
      for (const std::string& device : compared_.device.empty() ? options_.devices : own) {
        result.push_back({slot.parties, device});
      }
    }
    return result;
  }

  // A B B A.
  static std::vector<Rounds> take_turns(std::vector<Rounds> pairs) {
    for (std::size_t i = 1; i < pairs.size(); i += 2) {
      std::ranges::reverse(pairs[i]);
    }
    return pairs;
  }

  // Each link as it was measured: with all who measured at the same time.
  std::vector<Rounds> links() const {
    const Party suspect{compared_.node, *compared_.peer};
    const Party reference{compared_.reference, *compared_.reference_peer};
    std::vector<Rounds> result;
    for (int pair = 0; pair < pairs_; ++pair) {
      Rounds slots{{{suspect}}, {{reference}}};
      const std::vector<Party> links{suspect, reference};
      for (const auto& parties :
           step_.concurrent && !solo_ ? rounds(pair) : std::vector<std::vector<Party>>{}) {
        for (std::size_t i = 0; i < slots.size(); ++i) {
          if (party_of(parties, links[i][0]) == party_of(parties, links[i][1])) {
            slots[i].parties = parties;
          }
        }
      }
      if (slots[0] == slots[1]) {
        slots.pop_back();
      }
      result.push_back(on_devices(std::move(slots)));
    }
    return take_turns(std::move(result));
  }

  std::vector<Rounds> nodes_in_pairs() const {
    auto at_once = step_.concurrent ? nodes_at_once() : std::vector<Rounds>();
    return at_once.empty() ? nodes_in_turns() : at_once;
  }

  bool is_partner(int node) const {
    return std::ranges::count(options_.partners, node) > 0 && node != compared_.node &&
           node != compared_.reference;
  }

  bool meets_partner(const std::vector<Party>& parties, int node) const {
    const Party* party = party_of(parties, node);
    return party != nullptr && is_partner((*party)[0] == node ? (*party)[1] : (*party)[0]);
  }

  // Where not everybody met everybody, with partners drawn anew: what the first ones had in common
  // is then no longer there.
  std::vector<Rounds> nodes_at_once() const {
    std::vector<Rounds> result;
    for (int pass = 0; static_cast<int>(result.size()) < pairs_; ++pass) {
      for (const auto& parties :
           rounds_of_step(step_, index_, nodes_, pass, options_.seed + kDrawnAnew)) {
        if (meets_partner(parties, compared_.node) && meets_partner(parties, compared_.reference) &&
            static_cast<int>(result.size()) < pairs_) {
          result.push_back(on_devices({{parties}}));
        }
      }
      if (result.empty()) {
        break;
      }
    }
    return result;
  }

  std::vector<Rounds> nodes_in_turns() const {
    std::vector<int> partners;
    std::ranges::copy_if(options_.partners, std::back_inserter(partners),
                         [&](int node) { return is_partner(node); });
    std::vector<Rounds> result;
    for (int pair = 0; pair < pairs_ && !partners.empty(); ++pair) {
      const int partner = partners[static_cast<std::size_t>(pair) % partners.size()];
      const auto with = [&](int node) {
        return Round{{pair % 2 == 0 ? Party{node, partner} : Party{partner, node}}};
      };
      result.push_back(on_devices({with(compared_.node), with(compared_.reference)}));
    }
    return take_turns(std::move(result));
  }

  const PlannedStep& step_;
  int index_;
  int nodes_;
  int pairs_;
  bool solo_;
  const Comparison& compared_;
  const ConfirmOptions& options_;
};

class Planner {
 public:
  Planner(const std::vector<PlannedStep>& steps, const RunData& run, const ConfirmOptions& options)
      : steps_(steps), run_(run), options_(options), left_s_(options.left_s) {}

  void add(ConfirmRecord suspect) {
    const auto& step = steps_[static_cast<std::size_t>(suspect.step)];
    if (suspect.pairs == 0) {
      leave_out(std::move(suspect), "");
    } else if (step.ramp || loads_what_is_shared(step.scenario)) {
      leave_out(std::move(suspect), kShared);
    } else if (!joins(suspect, step)) {
      add_slots(std::move(suspect), step);
    }
  }

  Confirmation result() && { return std::move(result_); }

 private:
  int next() const { return static_cast<int>(run_.confirmations.size() + result_.records.size()); }

  void leave_out(ConfirmRecord suspect, const std::string& reason) {
    suspect.confirm = next();
    suspect.pairs = 0;
    suspect.reason = reason.empty() ? suspect.reason : reason;
    result_.records.push_back(std::move(suspect));
  }

  // All nodes are in the slots of such a step anyway.
  bool joins(const ConfirmRecord& suspect, const PlannedStep& step) {
    const auto same = std::ranges::find_if(result_.records, [&](const ConfirmRecord& record) {
      const bool same_device = record.compared.front().device == suspect.compared.front().device;
      return record.step == suspect.step && record.pairs > 0 && (same_device || !step.one_device);
    });
    if (!step.concurrent || step.probe.participants == Participants::pair ||
        same == result_.records.end()) {
      return false;
    }
    same->compared.push_back(suspect.compared.front());
    return true;
  }

  void add_slots(ConfirmRecord suspect, const PlannedStep& step) {
    const int nodes = static_cast<int>(run_.header.nodes.size());
    const auto pairs = Rematch(step, nodes, suspect, options_).pairs();
    const Durations durations(run_, suspect.step);
    double needed_s = 0;
    for (const Rounds& slots : pairs) {
      for (const Round& slot : slots) {
        needed_s += durations.of(slot.parties);
      }
    }
    if (pairs.empty()) {
      leave_out(std::move(suspect), kNoPartner);
      return;
    }
    if (needed_s > left_s_) {
      leave_out(std::move(suspect),
                fmt::format("it would take {:.0f} s, and of the limit of {:.0f} s for all that is "
                            "measured again {:.0f} s are left (--confirm-limit)",
                            needed_s, options_.limit_s, std::max(0.0, left_s_)));
      return;
    }
    left_s_ -= needed_s;
    suspect.confirm = next();
    for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
      for (const Round& slot : pairs[pair]) {
        result_.slots.push_back(
            {.index = options_.first_slot + static_cast<int>(result_.slots.size()),
             .step = suspect.step,
             .pass = static_cast<int>(pair),
             .parties = slot.parties,
             .device = slot.device,
             .confirms = suspect.confirm});
      }
    }
    result_.records.push_back(std::move(suspect));
  }

  const std::vector<PlannedStep>& steps_;
  const RunData& run_;
  const ConfirmOptions& options_;
  double left_s_;
  Confirmation result_;
};

}  // namespace

Confirmation plan_confirmation(const std::vector<PlannedStep>& steps, const RunData& run,
                               const std::vector<ConfirmRecord>& suspects,
                               const ConfirmOptions& options) {
  Planner planner(steps, run, options);
  for (const ConfirmRecord& suspect : suspects) {
    planner.add(suspect);
  }
  return std::move(planner).result();
}

}  // namespace fleetbench::plan
