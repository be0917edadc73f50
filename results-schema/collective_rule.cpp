#include "results-schema/collective_rule.hpp"

#include <algorithm>

namespace fleetbench {
namespace {

constexpr std::size_t kAligned = 16 / sizeof(float);

double twice_others(std::size_t members) {
  return 2.0 * (static_cast<double>(members) - 1.0) / static_cast<double>(members);
}

double others(std::size_t members) {
  return (static_cast<double>(members) - 1.0) / static_cast<double>(members);
}

double one(std::size_t /*members*/) { return 1.0; }

}  // namespace

std::size_t CollectiveRule::count(std::size_t bytes, std::size_t members) const {
  const std::size_t floats = bytes / sizeof(float);
  return shared_out ? floats / members / kAligned * kAligned : floats;
}

std::size_t CollectiveRule::bytes(std::size_t count, std::size_t members) const {
  return sizeof(float) * count * (shared_out ? members : 1);
}

const std::vector<CollectiveRule>& collective_rules() {
  static const std::vector<CollectiveRule> rules{
      {"all_reduce", "sum", -1, false, true, twice_others},
      {"all_gather", "none", -1, true, true, others},
      {"reduce_scatter", "sum", -1, true, true, others},
      {"all_to_all", "none", -1, true, true, others},
      {"broadcast", "none", 0, false, false, one},
      {"reduce", "sum", 0, false, false, one},
      {"sendrecv", "sum", -1, false, false, one}};
  return rules;
}

const CollectiveRule* find_collective_rule(std::string_view name) {
  const auto found = std::ranges::find(collective_rules(), name, &CollectiveRule::name);
  return found == collective_rules().end() ? nullptr : &*found;
}

}  // namespace fleetbench
