// Makes texts of unknown origin (a BIOS string, a file's content) fit to be stored and shown.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fleetbench {

// The same value, in whose strings each invalid piece of UTF-8 is U+FFFD and each character that
// steers a terminal (results-schema/code_point.hpp) is a space: dump() of the result does not
// throw.
nlohmann::json printable(const nlohmann::json& value);

// The same for one text.
std::string printable_text(std::string_view text);

}  // namespace fleetbench
