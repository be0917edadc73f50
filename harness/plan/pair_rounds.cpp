#include "harness/plan/pair_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "harness/plan/upper_median.hpp"

namespace fleetbench::plan {
namespace {

bool is_of_pairs(const PlannedStep& step) { return step.probe.participants == Participants::pair; }

std::pair<int, int> ends_of(const Party& party) { return std::minmax(party[0], party[1]); }

// In which of its step's rounds two nodes meet, counted from that of `tried`.
class RoundNumbers {
  using Numbered = std::pair<std::pair<int, int>, int>;

 public:
  RoundNumbers(const PlannedStep& step, int index, int nodes, std::uint64_t seed,
               const Slot& tried) {
    const auto rounds = rounds_of_step(step, index, nodes, 0, seed);
    count_ = static_cast<int>(rounds.size());
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      for (const Party& party : rounds[i]) {
        numbers_.emplace_back(ends_of(party), static_cast<int>(i));
      }
    }
    std::ranges::sort(numbers_);
    first_ = number_of(tried).value_or(0);
  }

  int count() const { return count_; }
  // 0, which is always kept, of what is in no round, and of what crosses rails.
  int of(const Slot& slot) const {
    const auto number = number_of(slot);
    return number && slot.peer_device.empty() ? (*number - first_ + count_) % count_ : 0;
  }
  // Share of all links that meet in the first so many rounds.
  double share(int rounds, int nodes) const {
    const double links = static_cast<double>(nodes) * (nodes - 1) / 2;
    return std::min(1.0, rounds * (nodes / 2) / links);
  }

 private:
  std::optional<int> number_of(const Slot& slot) const {
    const auto ends = ends_of(slot.parties.front());
    const auto found = std::ranges::lower_bound(numbers_, ends, {}, &Numbered::first);
    return found != numbers_.end() && found->first == ends ? std::optional(found->second)
                                                           : std::nullopt;
  }

  std::vector<Numbered> numbers_;  // sorted: a large fleet has millions
  int count_ = 0;
  int first_ = 0;
};

class Chooser {
 public:
  Chooser(const std::vector<PlannedStep>& steps, Trial trial, const std::map<int, double>& seconds,
          int nodes, std::uint64_t seed)
      : steps_(steps), rest_(std::move(trial.rest)), seconds_(seconds), nodes_(nodes) {
    for (const Slot& slot : trial.first) {
      const auto& step = steps_[static_cast<std::size_t>(slot.step)];
      if (is_of_pairs(step) && !slot.parties.empty()) {
        numbers_.try_emplace(slot.step, step, slot.step, nodes, seed, slot);
      }
    }
  }

  FewerRounds choose(double left_s) && {
    int fewest = kEnoughRounds;
    if (cost(fewest, 0, true) > left_s) {
      fewest = kFewestRounds;
      while (fewest < kEnoughRounds && cost(fewest + 1, 0, true) <= left_s) {
        ++fewest;
      }
      return kept(fewest, 0);
    }
    double low = 0;
    double high = 1;
    if (cost(fewest, high, false) <= left_s) {
      return kept(fewest, high);
    }
    constexpr int kHalvings = 20;
    for (int i = 0; i < kHalvings; ++i) {
      const double share = (low + high) / 2;
      (cost(fewest, share, false) <= left_s ? low : high) = share;
    }
    return kept(fewest, low);
  }

 private:
  int rounds(int step, int fewest, double share) const {
    const int all = numbers_.at(step).count();
    return std::min(all, std::max(fewest, static_cast<int>(std::floor(share * all))));
  }

  bool keeps(const Slot& slot, int fewest, double share) const {
    return !numbers_.contains(slot.step) || slot.parties.empty() ||
           numbers_.at(slot.step).of(slot) < rounds(slot.step, fewest, share);
  }

  double cost(int fewest, double share, bool of_first_pass) const {
    double sum_s = 0;
    for (const Slot& slot : rest_) {
      const auto found = seconds_.find(slot.step);
      if (found != seconds_.end() && (slot.pass == 0 || !of_first_pass) &&
          keeps(slot, fewest, share)) {
        sum_s += found->second;
      }
    }
    return sum_s;
  }

  FewerRounds kept(int fewest, double share) {
    FewerRounds result;
    for (Slot& slot : rest_) {
      if (keeps(slot, fewest, share)) {
        result.slots.push_back(std::move(slot));
      }
    }
    for (const auto& [step, numbers] : numbers_) {
      if (const int left = rounds(step, fewest, share); left < numbers.count()) {
        result.omitted.push_back(
            {steps_[static_cast<std::size_t>(step)].id, std::nullopt,
             fmt::format("{} of {} rounds of pairs fit the time of the run (--budget): {:.0f} % of "
                         "all links are measured",
                         left, numbers.count(), 100 * numbers.share(left, nodes_))});
      }
    }
    return result;
  }

  const std::vector<PlannedStep>& steps_;
  std::vector<Slot> rest_;
  const std::map<int, double>& seconds_;
  int nodes_;
  std::map<int, RoundNumbers> numbers_;  // by step
};

}  // namespace

Trial try_rounds(const std::vector<PlannedStep>& steps, std::vector<Slot> slots) {
  std::map<int, int> of_first_pass;
  for (const Slot& slot : slots) {
    of_first_pass[slot.step] += slot.pass == 0 ? 1 : 0;
  }
  const auto has_choice = [&](int step) {
    return is_of_pairs(steps[static_cast<std::size_t>(step)]) &&
           of_first_pass[step] > kFewestRounds;
  };
  Trial trial;
  if (std::ranges::none_of(slots, has_choice, &Slot::step)) {
    trial.first = std::move(slots);
    return trial;
  }
  std::map<int, int> tried;
  for (Slot& slot : slots) {
    const bool first = slot.pass == 0 && (!has_choice(slot.step) || tried[slot.step]++ == 0);
    (first ? trial.first : trial.rest).push_back(std::move(slot));
  }
  return trial;
}

std::map<int, double> seconds_of_slots(const RunData& run) {
  std::map<std::pair<int, int>, double> by_slot;  // by step and slot
  for (const SampleRecord& sample : run.samples) {
    double& longest_s = by_slot[{sample.step, sample.slot}];
    longest_s = std::max(longest_s, sample.prepare_s + sample.measure_s);
  }
  std::map<int, std::vector<double>> of_step;
  for (const auto& [place, seconds] : by_slot) {
    of_step[place.first].push_back(seconds);
  }
  std::map<int, double> result;
  for (auto& [step, values] : of_step) {
    result[step] = upper_median(std::move(values));
  }
  return result;
}

FewerRounds fit_rounds(const std::vector<PlannedStep>& steps, Trial trial,
                       const std::map<int, double>& seconds, double left_s, int nodes,
                       std::uint64_t seed) {
  return Chooser(steps, std::move(trial), seconds, nodes, seed).choose(left_s);
}

}  // namespace fleetbench::plan
