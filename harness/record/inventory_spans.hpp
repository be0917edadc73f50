// Finds the inventories in the text of a run.json, without reading them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleetbench::record {

// A part of a node's inventory, as text.
using PartSpans = std::map<std::string_view, std::string_view>;

struct InventorySpans {
  std::string without;  // the text with null for every inventory that is an object
  std::vector<std::optional<PartSpans>> nodes;  // in order; absent where it is none
};

// Assumes JSON: whoever uses the spans has to parse them and what is without them. Throws
// std::invalid_argument where the text is none as far as it looks.
InventorySpans find_inventories(std::string_view text);

}  // namespace fleetbench::record
