#include "harness/fleet/patience.hpp"

#include <algorithm>
#include <ctime>

namespace fleetbench::fleet {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kShortest = 50us;
constexpr std::chrono::nanoseconds kLongest = 20ms;

}  // namespace

void Patience::wait(std::vector<pollfd> descriptors) const {
  const std::chrono::nanoseconds waited = Clock::now() - since_;
  const auto sleep = std::clamp<std::chrono::nanoseconds>(waited / 64, kShortest, kLongest);
  const timespec timeout{0, static_cast<long>(sleep.count())};
  ppoll(descriptors.data(), descriptors.size(), &timeout, nullptr);
}

}  // namespace fleetbench::fleet
