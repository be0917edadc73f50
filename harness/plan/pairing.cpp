#include "harness/plan/pairing.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace fleetbench::plan {

std::vector<Round> all_pairs(int nodes) {
  if (nodes < 2) {
    return {};
  }
  // An odd fleet gets a seat that stays empty; who is paired with it rests.
  const int seats = nodes + nodes % 2;
  std::vector<Round> rounds;
  for (int turn = 0; turn < seats - 1; ++turn) {
    Round round;
    // Seat seats-1 stays where it is, the others move round the circle.
    for (int k = 0; k < seats / 2; ++k) {
      const int a = (turn + k) % (seats - 1);
      const int b = k == 0 ? seats - 1 : (turn + seats - 1 - k) % (seats - 1);
      if (a < nodes && b < nodes) {
        round.emplace_back(std::min(a, b), std::max(a, b));
      }
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

std::vector<Round> matchings(int nodes, int count, std::uint64_t seed) {
  auto rounds = all_pairs(nodes);
  if (count >= static_cast<int>(rounds.size())) {
    return rounds;
  }
  std::mt19937_64 generator(seed);
  std::vector<int> labels(static_cast<std::size_t>(nodes));
  std::iota(labels.begin(), labels.end(), 0);
  std::shuffle(labels.begin(), labels.end(), generator);
  std::shuffle(rounds.begin(), rounds.end(), generator);
  rounds.resize(static_cast<std::size_t>(count));
  for (auto& round : rounds) {
    for (auto& [a, b] : round) {
      const int x = labels[static_cast<std::size_t>(a)];
      const int y = labels[static_cast<std::size_t>(b)];
      a = std::min(x, y);
      b = std::max(x, y);
    }
  }
  return rounds;
}

}  // namespace fleetbench::plan
