// JSON by simdjson, for the files that are large: several times as fast as nlohmann_json, and
// stricter. Whoever gets nothing from here asks nlohmann_json, which says what is wrong and where.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "results-schema/run.hpp"

namespace fleetbench::record {

// Bytes behind a text that simdjson may read, whatever they are.
inline constexpr std::size_t kJsonPadding = 64;

// Keeps its memory from text to text; not for two threads at once. Texts are followed by
// kJsonPadding readable bytes.
class FastJson {
 public:
  FastJson();
  ~FastJson();
  FastJson(const FastJson&) = delete;
  FastJson& operator=(const FastJson&) = delete;

  // Absent where the text is no sample, or where anything about it is not as this program writes
  // it. Else what record_from_json() gives.
  std::optional<SampleRecord> sample(std::string_view text);
  // Absent where the text is no JSON to simdjson.
  std::optional<Json> json(std::string_view text);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace fleetbench::record
