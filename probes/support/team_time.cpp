#include "probes/support/team_time.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>

namespace fleetbench {
namespace {

using Clock = std::chrono::steady_clock;

struct Stamps {
  Clock::time_point begin;
  Clock::time_point end;
};

double seconds(const std::vector<Stamps>& threads) {
  const auto first = std::min_element(threads.begin(), threads.end(),
                                      [](auto& a, auto& b) { return a.begin < b.begin; });
  const auto last = std::max_element(threads.begin(), threads.end(),
                                     [](auto& a, auto& b) { return a.end < b.end; });
  return std::chrono::duration<double>(last->end - first->begin).count();
}

}  // namespace

std::vector<double> time_together(ThreadTeam& team, const TeamPart& part, int repetitions,
                                  const ThreadTeam::Body& body) {
  std::vector<std::vector<Stamps>> stamps(
      static_cast<std::size_t>(repetitions),
      std::vector<Stamps>(static_cast<std::size_t>(part.count)));
  std::barrier gate(part.count);
  team.run([&](int number) {
    if (number < part.first || number >= part.first + part.count) {
      return;
    }
    std::exception_ptr failure;
    for (auto& repetition : stamps) {
      gate.arrive_and_wait();  // also after a failure: the others wait for this thread
      Stamps& own = repetition[static_cast<std::size_t>(number - part.first)];
      own.begin = Clock::now();
      try {
        if (!failure) {
          body(number);
        }
      } catch (...) {
        failure = std::current_exception();
      }
      own.end = Clock::now();
    }
    if (failure) {
      std::rethrow_exception(failure);
    }
  });
  std::vector<double> times;
  for (const auto& repetition : stamps) {
    times.push_back(seconds(repetition));
  }
  return times;
}

std::vector<double> time_together(ThreadTeam& team, int repetitions, const ThreadTeam::Body& body) {
  return time_together(team, {.first = 0, .count = team.size()}, repetitions, body);
}

}  // namespace fleetbench
