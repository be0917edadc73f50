// Makes a text that came from a node fit for a terminal.
#pragma once

#include <string>
#include <string_view>

#include "results-schema/metric.hpp"

namespace fleetbench::report {

// The same text, in which characters that steer a terminal (results-schema/code_point.hpp), and
// bytes that are no valid UTF-8, stand as \n, \t or \x1b.
std::string escaped(std::string_view text);

// For what another program prints, as it comes: line ends and tabs stay, everything else is as in
// escaped().
class EscapedStream {
 public:
  // What can be shown once `piece` has come. A character that it breaks off in comes with the next.
  std::string take(std::string_view piece);
  // What is left once nothing more comes.
  std::string end();

 private:
  std::string begun_;
};

// A document as text, indented by so many spaces (-1: one line). In its strings what steers a
// terminal stands as \u202e, which any reader of JSON takes for the character itself; invalid UTF-8
// becomes U+FFFD.
std::string json_text(const Json& document, int indent);

// The beginning of a valid text that takes at most so many columns.
std::string_view first_columns(std::string_view text, std::size_t most);

// Columns on a terminal, counted in code points: right for what is not wide or combining.
std::size_t columns(std::string_view text);

}  // namespace fleetbench::report
