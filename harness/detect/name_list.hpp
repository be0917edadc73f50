// Names in a sentence.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fleetbench::detect {

// "a, b, c and 5 more" where there are more than `most`.
std::string list_of(const std::vector<std::string>& names, std::size_t most);

}  // namespace fleetbench::detect
