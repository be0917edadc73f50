#include <cstdlib>

#include "results-schema/check.hpp"
#include "results-schema/scenario.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fleetbench;
  try {
    const Scenario scenario = parse_scenario(text_of(data, size), "scenario.json");
    // What run.json keeps of it is a scenario again.
    const std::string kept = to_json(scenario).dump();
    if (to_json(parse_scenario(kept, "kept")).dump() != kept) {
      std::abort();
    }
  } catch (const InputError&) {
  }
  return 0;
}
