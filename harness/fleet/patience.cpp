#include "harness/fleet/patience.hpp"

#include <algorithm>
#include <ctime>

namespace fleetbench::fleet {
namespace {

constexpr std::chrono::nanoseconds kShortest = std::chrono::microseconds(200);

}  // namespace

void Patience::wait(const Habit& habit, std::vector<pollfd> descriptors) const {
  const std::chrono::duration<double, std::nano> share = (Clock::now() - since_) * habit.share;
  const auto sleep = std::clamp(std::chrono::duration_cast<std::chrono::nanoseconds>(share),
                                kShortest, habit.longest);
  const timespec timeout{0, static_cast<long>(sleep.count())};
  ppoll(descriptors.data(), descriptors.size(), &timeout, nullptr);
}

}  // namespace fleetbench::fleet
