#include "harness/record/run_header_reader.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

#include "harness/record/fast_json.hpp"
#include "harness/record/inventory_spans.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

// Parses each text once.
class Parts {
 public:
  Inventory::Part of(std::string_view text) {
    const auto [place, is_new] = known_.try_emplace(text);
    if (is_new) {
      auto json = fast_.json(text);
      if (!json) {
        throw std::invalid_argument("this is no JSON");
      }
      place->second = std::make_shared<const Json>(std::move(*json));
    }
    return place->second;
  }

 private:
  FastJson fast_;
  std::unordered_map<std::string_view, Inventory::Part> known_;
};

// `text` has padding behind it. Throws where it is not as this program writes it.
RunHeader read_fast(std::string_view text) {
  const InventorySpans spans = find_inventories(text);
  RunHeader header = run_header_from_json(parse_json(spans.without, "without inventories"));
  if (header.nodes.size() != spans.nodes.size()) {
    throw std::invalid_argument("this has two lists of nodes");
  }
  Parts parts;
  for (std::size_t i = 0; i < spans.nodes.size(); ++i) {
    if (!spans.nodes[i]) {
      continue;
    }
    Inventory::Parts of_node;
    for (const auto& [name, span] : *spans.nodes[i]) {
      of_node.emplace(name, parts.of(span));
    }
    header.nodes[i].inventory = Inventory(std::move(of_node));
  }
  return header;
}

}  // namespace

RunHeader read_run_header(std::string text, const std::string& source) {
  const std::size_t size = text.size();
  text.append(kJsonPadding, ' ');
  try {
    return read_fast(std::string_view(text).substr(0, size));
  } catch (const std::exception&) {
    text.resize(size);  // the parser of the whole says what is wrong, and where
  }
  try {
    return run_header_from_json(parse_json(text, source));
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{}: {}", source, error.what()));
  }
}

}  // namespace fleetbench::record
