#include "results-schema/inventory.hpp"

#include <algorithm>

namespace fleetbench {

Inventory::Inventory(Json json) : is_object_(json.is_object()) {
  if (!is_object_) {
    other_ = std::move(json);
    return;
  }
  for (auto& [name, value] : json.get_ref<Json::object_t&>()) {
    parts_.emplace(name, std::make_shared<const Json>(std::move(value)));
  }
}

const Json& Inventory::part(std::string_view name) const {
  static const Json nothing;
  const auto found = parts_.find(name);
  return found == parts_.end() ? nothing : *found->second;
}

void Inventory::set(const std::string& name, Part part) {
  is_object_ = true;
  other_ = nullptr;
  parts_[name] = std::move(part);
}

Json& Inventory::operator[](const std::string& name) {
  const auto own = std::make_shared<Json>(part(name));
  set(name, own);
  return *own;
}

Json Inventory::json() const {
  if (!is_object_) {
    return other_;
  }
  Json json = Json::object();
  for (const auto& [name, part] : parts_) {
    json[name] = *part;
  }
  return json;
}

Inventory InventoryPool::share(Json json) {
  Inventory inventory(std::move(json));
  const Inventory::Parts own = inventory.parts();
  for (const auto& [name, part] : own) {
    const std::size_t hash = std::hash<Json>()(*part);
    const auto [begin, end] = parts_.equal_range(hash);
    const auto same = std::find_if(
        begin, end, [&part = part](const auto& known) { return *known.second == *part; });
    if (same == end) {
      parts_.emplace(hash, part);
    } else {
      inventory.set(name, same->second);
    }
  }
  return inventory;
}

}  // namespace fleetbench
