// Whether one reading stands out from those of others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/detect/readings.hpp"

namespace fleetbench::detect {

struct Bar {
  double chance = 0.01;     // of a reading that stands out though all are alike
  double least_effect = 0;  // of shares and levels: differences that nobody wants to be told
};

// What the others have, where `own` stands out from it.
struct Odd {
  std::optional<double> others;  // none: there are none, and it is an error by itself
  bool most_only = false;        // some of the others differ, too
};

// States: most of at least two others, 60 %, have another one. Errors that most others have none
// of, counters and rates too: any. Else robust deviation, drawn toward what is assumed of such
// readings as for figures (prior.hpp), counters on the scale of square roots, on which chance makes
// the same of any size.
std::optional<Odd> odd_among(const ReadingType& type, double own, const std::vector<double>& others,
                             const Bar& bar);

// "1.38 GHz", "100 %", "8", "84 °C".
std::string reading_text(const ReadingType& type, double value);
// "others none", "most others none", "median 3"; empty where there are no others.
std::string others_have(const ReadingType& type, const Odd& odd);

}  // namespace fleetbench::detect
