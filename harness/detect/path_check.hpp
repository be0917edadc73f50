// Where to look when a rail, a switch, or a link on a rail is slow.
#pragma once

#include <string>

#include "results-schema/report.hpp"

namespace fleetbench::detect {

// `subject` is a rail, a switch, or a link that has a rail.
std::string path_check(const Subject& subject);

}  // namespace fleetbench::detect
