#include "probes/support/printable.hpp"

#include <algorithm>
#include <string>

namespace fleetbench {

namespace {

using Json = nlohmann::json;

bool is_control(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return byte < 0x20 || byte == 0x7f;
}

void replace_controls(Json& value) {
  if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    std::replace_if(text.begin(), text.end(), is_control, ' ');
  }
  if (value.is_structured()) {
    for (Json& child : value) {
      replace_controls(child);
    }
  }
}

}  // namespace

Json printable(const Json& value) {
  Json clean = Json::parse(value.dump(-1, ' ', false, Json::error_handler_t::replace));
  replace_controls(clean);
  return clean;
}

std::string printable_text(std::string_view text) {
  return printable(nlohmann::json(text)).get<std::string>();
}

}  // namespace fleetbench
