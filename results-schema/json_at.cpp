#include "results-schema/json_at.hpp"

namespace fleetbench {

const Json& at(const Json& object, const char* key) {
  static const Json nothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : nothing;
}

std::string text_at(const Json& object, const char* key) {
  const Json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<double> number_at(const Json& object, const char* key) {
  const Json& value = at(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

}  // namespace fleetbench
