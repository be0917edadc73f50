#include "probes/fio/fio_output.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fleetbench;
  const FioOutput output = read_fio_output(text_of(data, size));
  for (const FioError& error : output.errors) {
    require_harmless(error.text);
  }
  require_harmless(output.other_text);
  for (const FioJob& job : output.jobs) {
    require_harmless(job.name);
  }
  return 0;
}
