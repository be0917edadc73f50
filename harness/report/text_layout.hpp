// Lines, columns and colours of a text report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/report/report.hpp"

namespace fleetbench::report {

enum class Ink { plain, bold, good, doubtful, bad, unknown, faint };

std::string inked(std::string_view text, Ink ink, const TextStyle& style);

// Breaks `text` at spaces so that no line is wider than style.width, where words allow. The first
// line starts with `first`, which may be a mark, the others with as many spaces.
std::string paragraph(std::string_view first, std::string_view text, const TextStyle& style);

// Rows of cells, each column as wide as its widest cell; the first column is left aligned, the
// others as `right` says. No trailing spaces.
std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view indent,
                  bool right);

}  // namespace fleetbench::report
