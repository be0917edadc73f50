// Values of objects that anybody may have written: of another type they count as absent.
#pragma once

#include <optional>
#include <string>

#include "results-schema/metric.hpp"

namespace fleetbench {

// Null where there is none.
const Json& at(const Json& object, const char* key);
// Empty where there is no text.
std::string text_at(const Json& object, const char* key);
std::optional<double> number_at(const Json& object, const char* key);

}  // namespace fleetbench
