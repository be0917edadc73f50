// The one adapter through which local probes are timed: Google Benchmark, with the number of
// iterations given, so that every node of a fleet does the same work. Left to itself Google
// Benchmark adapts the count to the speed that it sees, and a slow node would do less.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fleetbench {

// Runs `body` `repetitions` times `iterations` times; returns wall seconds per iteration, one value
// per repetition. Exceptions of `body` pass through. Not to be called from two threads.
std::vector<double> time_fixed_work(const std::string& name, std::int64_t iterations,
                                    int repetitions, const std::function<void()>& body);

// The number of iterations that takes about `target_s`, found by Google Benchmark; at least 1.
std::int64_t iterations_for(const std::string& name, double target_s,
                            const std::function<void()>& body);

}  // namespace fleetbench
