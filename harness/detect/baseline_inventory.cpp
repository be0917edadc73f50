#include "harness/detect/baseline_inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "harness/detect/facts.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kSameBytes = 0.01;  // firmware keeps a little of the memory for itself

std::optional<double> number_in(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

bool same(const std::string& path, const std::string& a, const std::string& b) {
  const auto x = number_in(a);
  const auto y = number_in(b);
  if (path.ends_with("bytes") && x && y) {
    return std::abs(*x - *y) <= kSameBytes * std::max(std::abs(*x), std::abs(*y));
  }
  return a == b;
}

// Most nodes differ from the baseline, though perhaps not all in the same way.
std::string change_text(const std::string& path, const std::string& before,
                        const std::vector<FlatInventory>& now) {
  std::map<std::string, std::size_t> votes;
  for (const FlatInventory& flat : now) {
    const auto found = flat.find(path);
    ++votes[found == flat.end() ? "missing" : found->second];
  }
  const auto most =
      std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  return fmt::format("{} is {}, in the baseline {}", path, most->first, before);
}

}  // namespace

FlatInventory flat_inventory(const Inventory& inventory) {
  FactPool pool;
  FlatInventory flat;
  for (const auto& [name, part] : inventory.parts()) {
    for (const auto& [path, value] : pool.facts_of(name, *part)) {
      flat[path] = value == kNone ? "none" : value.substr(1);  // behind the letter of its type
    }
  }
  return flat;
}

FlatInventory majority_inventory(const std::vector<FlatInventory>& inventories) {
  std::map<std::string, std::map<std::string, std::size_t>> votes;
  for (const FlatInventory& inventory : inventories) {
    for (const auto& [path, text] : inventory) {
      ++votes[path][text];
    }
  }
  FlatInventory most;
  for (const auto& [path, texts] : votes) {
    for (const auto& [text, count] : texts) {
      if (2 * count > inventories.size()) {
        most[path] = text;
      }
    }
  }
  return most;
}

std::vector<std::string> inventory_changes(const Baseline& baseline, const std::string& cohort,
                                           const std::vector<NodeInfo>& nodes) {
  const auto before = baseline.inventory.find(cohort);
  std::vector<FlatInventory> now;
  for (const NodeInfo& node : nodes) {
    if (node.inventory.is_object()) {
      now.push_back(flat_inventory(node.inventory));
    }
  }
  std::vector<std::string> changes;
  if (before == baseline.inventory.end()) {
    return changes;
  }
  for (const auto& [path, text] : before->second) {
    const auto differing =
        std::ranges::count_if(now, [&path = path, &text = text](const FlatInventory& flat) {
          const auto found = flat.find(path);
          return found == flat.end() || !same(path, found->second, text);
        });
    if (2 * static_cast<std::size_t>(differing) > now.size()) {
      changes.push_back(change_text(path, text, now));
    }
  }
  changes.resize(std::min(changes.size(), kMostInventoryChanges));
  return changes;
}

}  // namespace fleetbench::detect
