// Finds the JSON that fio wrote among the other things that it prints.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fleetbench {

inline constexpr std::size_t kMaxFioText_bytes = std::size_t{16} << 20;
// fio's own documents are seven deep at most.
inline constexpr int kMaxFioDepth = 32;

struct FioDocument {
  nlohmann::json json;    // an object; null where `problem` says why there is none
  std::size_t begin = 0;  // bytes of the text that it takes, begin to end
  std::size_t end = 0;
  std::string problem_kind;  // "empty", "no_rows", "truncated", "bad_line", "too_many"
  std::string problem;
  std::size_t problem_at = 0;  // byte
};

// fio prints warnings and errors before its JSON and disk statistics after it, with braces in them,
// so the document is the first balanced object that begins a line and has "jobs" in it. Numbers
// that are none (fio prints nan and inf) are null in it. Never throws on a text, whatever is in it.
FioDocument find_fio_document(std::string_view text);

// The line, from 1, on which a byte of a text stands.
int line_of(std::string_view text, std::size_t byte);

}  // namespace fleetbench
