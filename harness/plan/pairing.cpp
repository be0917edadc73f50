#include "harness/plan/pairing.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace fleetbench::plan {
namespace {

// An odd fleet gets a seat that stays empty; who is paired with it rests.
int seats_of(int nodes) { return nodes + nodes % 2; }

int turns_of(int nodes) { return nodes < 2 ? 0 : seats_of(nodes) - 1; }

// The circle method: the last seat stays where it is, the others move round the circle.
Round round_of(int nodes, int turn) {
  const int seats = seats_of(nodes);
  Round round;
  for (int k = 0; k < seats / 2; ++k) {
    const int a = (turn + k) % (seats - 1);
    const int b = k == 0 ? seats - 1 : (turn + seats - 1 - k) % (seats - 1);
    if (a < nodes && b < nodes) {
      round.emplace_back(std::min(a, b), std::max(a, b));
    }
  }
  return round;
}

std::vector<int> numbers_below(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

std::vector<Round> all_pairs(int nodes) {
  std::vector<Round> rounds;
  for (int turn = 0; turn < turns_of(nodes); ++turn) {
    rounds.push_back(round_of(nodes, turn));
  }
  return rounds;
}

std::vector<Round> matchings(int nodes, int count, std::uint64_t seed) {
  if (count >= turns_of(nodes)) {
    return all_pairs(nodes);
  }
  std::mt19937_64 generator(seed);
  auto labels = numbers_below(nodes);
  std::shuffle(labels.begin(), labels.end(), generator);
  auto turns = numbers_below(turns_of(nodes));
  std::shuffle(turns.begin(), turns.end(), generator);
  turns.resize(static_cast<std::size_t>(count));
  std::vector<Round> rounds;
  for (const int turn : turns) {
    for (auto& [a, b] : rounds.emplace_back(round_of(nodes, turn))) {
      const int x = labels[static_cast<std::size_t>(a)];
      const int y = labels[static_cast<std::size_t>(b)];
      a = std::min(x, y);
      b = std::max(x, y);
    }
  }
  return rounds;
}

}  // namespace fleetbench::plan
