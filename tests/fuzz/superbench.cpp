#include "harness/record/superbench.hpp"

#include "results-schema/check.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fleetbench;
  const std::string text = text_of(data, size);
  record::looks_like_superbench(text);
  RunData run;
  try {
    run = record::read_superbench({{"samples", text}}).run;
  } catch (const InputError&) {
    return 0;
  }
  judge_and_report(run);
  return 0;
}
