// What libFuzzer calls with each input, and the replay of the corpus with each file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "results-schema/run.hpp"

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fleetbench {

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the process where a text would steer a terminal.
void require_harmless(std::string text);

// Whatever a reader lets pass has to be judged, reported in every format and learnt from without a
// fault.
void judge_and_report(const RunData& run);

// The same of what `read` gives, which may refuse its input.
void judge_what_passes(const std::function<RunData()>& read);

}  // namespace fleetbench
