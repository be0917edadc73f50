// What the name and the unit of somebody else's metric tell about it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/metric.hpp"

namespace fleetbench::record {

// The letters and digits of a text between everything else, in lower case: "IB_write-bw" has ib,
// write, bw.
std::vector<std::string> words_of(std::string_view text);

// Times (also per something: "ms/step") are better lower, rates ("GB/s", "IOPS", "GFLOPS", "MHz")
// higher. None where the unit does not tell: "%", "W", "B".
std::optional<Better> better_of_unit(std::string_view unit);

// By the words of the name, then by the unit; none where neither tells.
std::optional<Layer> layer_of_words(std::string_view name, std::string_view unit);

}  // namespace fleetbench::record
