// Characters of UTF-8 texts of unknown origin.
#pragma once

#include <cstddef>
#include <string_view>

namespace fleetbench {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // 0: the text does not start with valid UTF-8
};

// The first one of a text that is not empty. Overlong forms, surrogates and what lies beyond
// U+10FFFF are not valid.
CodePoint first_code_point(std::string_view text);

// Whether printing it moves a cursor, ends a line, changes the direction of writing or shows
// nothing at all: C0, C1, DEL, the controls for lines and bidirectional text, and characters
// without a width.
bool steers(char32_t value);

}  // namespace fleetbench
