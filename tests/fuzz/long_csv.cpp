#include "harness/record/long_csv.hpp"

#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fleetbench;
  const std::string text = text_of(data, size);
  record::looks_like_long_csv(text);
  judge_what_passes([&] { return record::read_long_csv({{"samples", text}}).run; });
  return 0;
}
