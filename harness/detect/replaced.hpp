// Marks in texts.
#pragma once

#include <string>
#include <string_view>

namespace fleetbench::detect {

// The text with `with` in place of each `mark`.
std::string replaced(std::string text, std::string_view mark, std::string_view with);

}  // namespace fleetbench::detect
