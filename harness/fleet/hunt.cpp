#include "harness/fleet/hunt.hpp"

#include <algorithm>

namespace fleetbench::fleet {

bool can_be_halved(const plan::Team& team) { return team.members.size() >= 4; }

std::vector<plan::Team> halves(const plan::Team& team) {
  const auto middle = team.members.begin() + static_cast<std::ptrdiff_t>(team.members.size() / 2);
  return {{.party = team.party, .members = {team.members.begin(), middle}, .is_whole = false},
          {.party = team.party, .members = {middle, team.members.end()}, .is_whole = false}};
}

std::vector<plan::Team> with_partners(const plan::Team& suspects, const plan::Team& sound) {
  std::vector<plan::Team> pairs;
  const auto count = std::min(suspects.members.size(), sound.members.size());
  for (std::size_t i = 0; i < count; ++i) {
    pairs.push_back({.party = suspects.party,
                     .members = {suspects.members[i], sound.members[i]},
                     .is_whole = false});
  }
  return pairs;
}

}  // namespace fleetbench::fleet
