// Checks a JSON document against one of the schemas and says what is wrong in a person's words.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "results-schema/metric.hpp"

namespace fleetbench {

// Something that a person gave us is wrong: the message names the thing, the value and the mend.
// Ends a command with exit code 64.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One line per fault: `PATH: VALUE is none of A, B`. Empty where the document is valid. `where`
// is the path of the document's root: "" or, say, "steps[3].params".
std::vector<std::string> check_against(const Json& document, const Json& schema,
                                       const std::string& where = "");

// Parses text as JSON. Throws InputError with source, line and column.
Json parse_json(const std::string& text, const std::string& source);

// `value` with every absent key of an object schema's "properties" set to its "default".
Json with_defaults(Json value, const Json& schema);

// The schemas that are compiled in: "scenario", "run", "journal", "report",
// "baseline".
const Json& schema_named(const std::string& name);

}  // namespace fleetbench
