#include "harness/record/superbench.hpp"

#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fleetbench;
  const std::string text = text_of(data, size);
  record::looks_like_superbench(text);
  judge_what_passes([&] { return record::read_superbench({{"samples", text}}).run; });
  return 0;
}
