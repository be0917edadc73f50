// Reads run.json, nearly all of which are the inventories of nodes, and most of those equal.
#pragma once

#include <string>

#include "results-schema/run.hpp"

namespace fleetbench::record {

// What run_header_from_json() gives; parts of inventories whose texts are equal are shared. Throws
// InputError naming `source`.
RunHeader read_run_header(std::string text, const std::string& source);

}  // namespace fleetbench::record
