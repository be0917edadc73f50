// What a node is, as the probe `inventory` told it.
//
// Most of it is the same on all nodes of a fleet, and of 16,384 nodes it is gigabytes as a tree. So
// the values of the object's keys, its parts, are kept apart, and nodes whose parts are equal can
// share them. A part that is shared is never changed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "results-schema/metric.hpp"

namespace fleetbench {

// Converts from and to Json as if it were one.
class Inventory {
 public:
  using Part = std::shared_ptr<const Json>;
  using Parts = std::map<std::string, Part, std::less<>>;

  Inventory() = default;        // null: it could not be taken
  Inventory(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  Inventory(Json json);         // NOLINT(google-explicit-constructor)
  explicit Inventory(Parts parts) : is_object_(true), parts_(std::move(parts)) {}

  bool is_null() const { return !is_object_ && other_.is_null(); }
  bool is_object() const { return is_object_; }
  bool contains(std::string_view part) const { return parts_.contains(part); }
  // Null where there is no such part.
  const Json& part(std::string_view name) const;
  const Parts& parts() const { return parts_; }

  void set(const std::string& name, Part part);
  // To be written to at once: the part becomes this node's own. Makes an object of what is none.
  Json& operator[](const std::string& name);

  // The whole, as a tree of its own.
  Json json() const;
  friend void to_json(Json& json, const Inventory& inventory) { json = inventory.json(); }
  friend bool operator==(const Inventory& a, const Inventory& b) { return a.json() == b.json(); }

 private:
  bool is_object_ = false;
  Parts parts_;
  Json other_;  // what is no object has no parts
};

// Gives equal parts of many inventories one place in memory.
class InventoryPool {
 public:
  Inventory share(Json json);

 private:
  std::unordered_multimap<std::size_t, Inventory::Part> parts_;  // by hash
};

}  // namespace fleetbench
