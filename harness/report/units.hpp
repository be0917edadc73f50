// Figures as people write them.
#pragma once

#include <string>
#include <string_view>

namespace fleetbench::report {

// "168 GFLOP/s", "947 MB/s", "23.1 µs", "12.4 k items/s": three significant digits and a power of
// 1000 as prefix; a unit of more than one word, or that is no SI unit, stands apart from it.
std::string in_unit(double value, std::string_view unit);

// "0.3 %", "12 %"
std::string in_per_cent(double pct);

}  // namespace fleetbench::report
