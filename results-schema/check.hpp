// Checks a JSON document against one of the schemas and says what is wrong in a person's words.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/metric.hpp"

namespace fleetbench {

// Something that a person gave us is wrong: the message names the thing, the value and the mend.
// Ends a command with exit code 64.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Bytes of the longest name of a node, device, step, metric or unit: tables have a column for them.
inline constexpr std::size_t kLongestName = 512;
// Of what is put together of such names: keys of a baseline, cohorts.
inline constexpr std::size_t kLongestKey = 4096;

// One line per fault: `PATH: VALUE is none of A, B`. Empty where the document is valid. `where`
// is the path of the document's root: "" or, say, "steps[3].params".
std::vector<std::string> check_against(const Json& document, const Json& schema,
                                       const std::string& where = "");

// Deeper than any file of ours. What is nested deeper is read by nobody: copying, printing and
// comparing it take a stack as deep.
inline constexpr int kMaxJsonDepth = 100;

// The byte at which brackets are open more than kMaxJsonDepth deep; nothing where they never are.
std::optional<std::size_t> too_deep_at(std::string_view json);

// Parses text as JSON. Throws InputError with source, line and column.
Json parse_json(const std::string& text, const std::string& source);

// Parses what another program wrote: discarded (Json::is_discarded()) where it is no JSON or too
// deep.
Json parse_foreign_json(std::string_view text);

// `value` with every absent key of an object schema's "properties" set to its "default".
Json with_defaults(Json value, const Json& schema);

// The schemas that are compiled in: "scenario", "run", "journal", "report",
// "baseline".
const Json& schema_named(const std::string& name);

}  // namespace fleetbench
