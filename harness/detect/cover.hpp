// Which few culprits explain most of the slow pairs: a greedy weighted cover.
#pragma once

#include <span>
#include <vector>

namespace fleetbench::detect {

// Somebody, or something, that may make the pairs slow that touch it.
struct Candidate {
  std::vector<int> touches;  // positions of pairs, ascending
  // Parts of it, as positions in `touches`: the nodes of a switch, the rails of a node. Most of
  // them have to be slow, else one of them is the culprit. Empty: it has no parts.
  std::vector<std::vector<int>> parts;
  double least_share =
      0;              // of what is left of its pairs, that has to be slow by half of the effect
  double weight = 1;  // of what speaks for it: somewhat more than 1 where others named it before
};

struct Culprit {
  int candidate = 0;
  double effect = 0;  // of its pairs that nothing chosen before explains: log scale
  double gain = 0;
  std::vector<int> rivals;  // candidates that explain the same pairs as well
};

// `excess`: of each pair, by how much it is slower than healthy ones (log scale), which differ by
// `sigma`. In turn the candidate is chosen that explains most: of each pair it touches
// ((e - c)² - (e - c')²) / 2 sigma², no more than `kMostOfPair` either way, where e is its excess,
// c what the slowest of those chosen so far explain, c' the same with the candidate. So a healthy
// pair that it touches speaks against it as much as a slow one speaks for it. Ends where none
// explains `least_effect` and gains kLeastGain.
inline constexpr double kMostOfPair = 8;
inline constexpr double kLeastGain = 2;
std::vector<Culprit> cover(std::span<const double> excess, double sigma,
                           const std::vector<Candidate>& candidates, double least_effect);

}  // namespace fleetbench::detect
