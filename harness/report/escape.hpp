// Makes a text that came from a node fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace fleetbench::report {

// The same text, in which control characters (also C1, and those that change the direction of
// writing or start a line), and bytes that are no valid UTF-8, stand as \n, \t or \x1b.
std::string escaped(std::string_view text);

// Columns on a terminal, counted in code points: right for what is not wide or combining.
std::size_t columns(std::string_view text);

}  // namespace fleetbench::report
