#include "harness/detect/cover.hpp"

#include <algorithm>
#include <cmath>

#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kMostParts = 0.75;      // that have to be slow
constexpr std::size_t kFewestParts = 2;  // that were seen
constexpr double kAsWell = 0.97;         // of the best gain: cannot be told apart
// All of whose pairs others explain is a culprit of its own where they are so many times as slow,
// and by so many sigmas slower than what else these slow.
constexpr double kBeyond = 1.5;
constexpr double kBeyondSigmas = 4;

class Covering {
 public:
  Covering(std::span<const double> excess, double sigma)
      : excess_(excess), sigma_(sigma), explained_(excess.size(), 0), bounds_(excess.size(), 0) {}

  // The candidate's effect on what is left, or, where that is less than half of its pairs, beyond
  // what others explain; 0: none.
  double effect_of(const Candidate& candidate) const {
    std::vector<double> left;
    std::vector<double> all;
    std::vector<double> bounds;
    for (const int pair : candidate.touches) {
      all.push_back(excess_[pair]);
      bounds.push_back(bounds_[pair]);
      if (explained_[pair] == 0) {
        left.push_back(excess_[pair]);
      }
    }
    if (2 * left.size() >= all.size() && !left.empty()) {
      return median(std::move(left));
    }
    const double effect = median(std::move(all));
    return effect >= median(std::move(bounds)) ? effect : 0;
  }

  double gain_of(const Candidate& candidate, double effect) const {
    double gain = 0;
    for (const int pair : candidate.touches) {
      const double before = excess_[pair] - explained_[pair];
      const double after = excess_[pair] - std::max(explained_[pair], effect);
      gain += std::clamp((before * before - after * after) / (2 * sigma_ * sigma_), -kMostOfPair,
                         kMostOfPair);
    }
    return gain;
  }

  bool parts_agree(const Candidate& candidate, double effect) const {
    std::size_t seen = 0;
    std::size_t slow = 0;
    for (const std::vector<int>& part : candidate.parts) {
      std::vector<double> of_part;
      for (const int place : part) {
        const int pair = candidate.touches[place];
        if (explained_[pair] == 0) {
          of_part.push_back(excess_[pair]);
        }
      }
      if (2 * of_part.size() >= part.size()) {
        ++seen;
        slow += median(std::move(of_part)) >= effect / 2;
      }
    }
    return candidate.parts.empty() ||
           (seen >= kFewestParts &&
            static_cast<double>(slow) >= kMostParts * static_cast<double>(seen));
  }

  bool enough_are_slow(const Candidate& candidate, double effect) const {
    std::size_t left = 0;
    std::size_t slow = 0;
    for (const int pair : candidate.touches) {
      if (explained_[pair] == 0) {
        ++left;
        slow += excess_[pair] >= effect / 2;
      }
    }
    return static_cast<double>(slow) >= candidate.least_share * static_cast<double>(left);
  }

  void explain(const Candidate& candidate, double effect) {
    std::vector<double> of_it;
    for (const int pair : candidate.touches) {
      of_it.push_back(excess_[pair]);
    }
    const double bound = std::max(kBeyond * effect, effect + kBeyondSigmas * robust_sigma(of_it));
    for (const int pair : candidate.touches) {
      explained_[pair] = std::max(explained_[pair], effect);
      bounds_[pair] = std::max(bounds_[pair], bound);
    }
  }

 private:
  std::span<const double> excess_;
  double sigma_;
  std::vector<double> explained_;  // 0: by nothing
  std::vector<double> bounds_;     // from which on a pair is slower than that explains
};

}  // namespace

std::vector<Culprit> cover(std::span<const double> excess, double sigma,
                           const std::vector<Candidate>& candidates, double least_effect) {
  Covering covering(excess, sigma);
  std::vector<Culprit> chosen;
  std::vector<bool> used(candidates.size());
  for (;;) {
    std::vector<Culprit> possible;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const double effect = used[c] ? 0 : covering.effect_of(candidates[c]);
      if (effect < least_effect || !covering.parts_agree(candidates[c], effect) ||
          !covering.enough_are_slow(candidates[c], effect)) {
        continue;
      }
      const double gain = candidates[c].weight * covering.gain_of(candidates[c], effect);
      if (gain >= kLeastGain) {
        possible.push_back({static_cast<int>(c), effect, gain, {}});
      }
    }
    if (possible.empty()) {
      return chosen;
    }
    Culprit best = *std::ranges::max_element(possible, {}, &Culprit::gain);
    for (const Culprit& other : possible) {
      const bool same_pairs =
          candidates[other.candidate].touches == candidates[best.candidate].touches;
      if (other.candidate != best.candidate && same_pairs && other.gain >= kAsWell * best.gain) {
        best.rivals.push_back(other.candidate);
      }
    }
    used[best.candidate] = true;
    covering.explain(candidates[best.candidate], best.effect);
    chosen.push_back(std::move(best));
  }
}

}  // namespace fleetbench::detect
