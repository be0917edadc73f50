#include "probes/support/printable.hpp"

#include <algorithm>
#include <string>

#include "results-schema/code_point.hpp"

namespace fleetbench {

namespace {

using Json = nlohmann::json;

// `text` is valid UTF-8.
std::string without_steering(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    clean += steers(point.value) ? " " : text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return clean;
}

void replace_steering(Json& value) {
  if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    text = without_steering(text);
  }
  if (value.is_structured()) {
    for (Json& child : value) {
      replace_steering(child);
    }
  }
}

}  // namespace

Json printable(const Json& value) {
  Json clean = Json::parse(value.dump(-1, ' ', false, Json::error_handler_t::replace));
  replace_steering(clean);
  return clean;
}

std::string printable_text(std::string_view text) {
  return printable(nlohmann::json(text)).get<std::string>();
}

}  // namespace fleetbench
