#include "harness/record/nccl_tests.hpp"

#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fleetbench;
  const std::string text = text_of(data, size);
  record::looks_like_nccl_tests(text);
  judge_what_passes([&] { return record::read_nccl_tests({{"samples", text}}).run; });
  return 0;
}
