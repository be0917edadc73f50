#include <cstdlib>

#include "results-schema/check.hpp"
#include "results-schema/scenario.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fleetbench;
  std::string kept;
  try {
    kept = to_json(parse_scenario(text_of(data, size), "scenario.json")).dump();
  } catch (const InputError&) {
    return 0;
  }
  // What run.json keeps of it is a scenario again.
  if (to_json(parse_scenario(kept, "kept")).dump() != kept) {
    std::abort();
  }
  return 0;
}
