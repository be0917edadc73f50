// What the commands share in reading their options.
#pragma once

#include <cxxopts.hpp>
#include <map>
#include <string>
#include <vector>

#include "results-schema/metric.hpp"

namespace fleetbench::cli {

// Parses a command's arguments. Throws InputError naming an option that is unknown, lacks its value
// or has one of the wrong type, or is given twice although it is none of `repeatable`.
cxxopts::ParseResult parse(cxxopts::Options& options, const std::vector<std::string>& arguments,
                           const std::vector<std::string>& repeatable = {});

// Throws InputError unless the text is a whole number from `least` to `most`.
long whole_number(const std::string& option, const std::string& text, long least, long most);

// {"compute=2", "host=4"} → {compute: 0.02, host: 0.04}; "all=1" sets every layer. Throws
// InputError.
std::map<Layer, double> min_effects(const std::vector<std::string>& texts);

}  // namespace fleetbench::cli
