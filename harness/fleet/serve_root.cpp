#include "harness/fleet/serve_root.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "harness/fleet/job.hpp"
#include "harness/fleet/patience.hpp"

namespace fleetbench::fleet {
namespace {

// Who is told to stop still answers for so long: the root then asks, for less, who is left.
constexpr auto kAfterword = std::chrono::milliseconds(700);

}  // namespace

void serve_root(Agent& agent, const std::function<bool()>& is_told_to_stop) {
  Patience patience;
  std::optional<std::chrono::steady_clock::time_point> told;
  while (!agent.closed()) {
    if (!told && is_told_to_stop()) {
      told = std::chrono::steady_clock::now();
    }
    if (told && std::chrono::steady_clock::now() - *told > kAfterword) {
      throw Interrupted();
    }
    if (agent.root_silence_s() > kRootSilence_s) {
      throw FleetError(
          fmt::format("not a word from rank 0 for {:.0f} s: giving up", kRootSilence_s));
    }
    if (agent.tick()) {
      patience.reset();
    } else {
      patience.wait(agent.attentive() ? Patience::kAttentive : Patience::kAgent,
                    agent.descriptors());
    }
  }
}

}  // namespace fleetbench::fleet
