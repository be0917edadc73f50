// Which program this is. Ranks of different builds refuse to work together.
#pragma once

namespace fleetbench {

extern const char* const kVersion;  // "0.1.0"
extern const char* const kBuild;    // commit and build type: "04ec834-dirty RelWithDebInfo"

}  // namespace fleetbench
