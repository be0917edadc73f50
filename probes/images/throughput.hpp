// How fast a loader is, and how long a training step waits for it.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "probes/images/loader.hpp"

namespace fleetbench::images {

// Bytes that this process has read from files, and how many of them came from a device.
struct BytesRead {
  std::int64_t all = 0;
  std::int64_t from_device = 0;
};

// From the text of /proc/self/io; nothing where it is not of that form.
std::optional<BytesRead> parse_process_io(std::string_view text);
// Of what was read in between, the share that was in the page cache, 0 to 1: a device gives more
// than is asked of it (readahead), never less than what is missing.
double page_cache_share(const BytesRead& before, const BytesRead& after);

struct Throughput {
  std::vector<double> windows;  // images/s of each
  StageTimes stages;
  std::optional<double> page_cache_share;  // absent where the kernel does not count

  double images_per_s() const;  // of the median window
};

// A moment at which a batch was made, and how many images were done by then, also those in batches
// that were being made: counted in whole batches, rates would jump by one for each worker.
struct Progress {
  std::chrono::steady_clock::time_point at;
  std::uint64_t images = 0;
};

// Images/s of windows of `batches` each, back to back, from the moment when `first` batches (at
// least 1) were made. Of a rest that fills no window nothing is said. `made` is in no order.
std::vector<double> window_rates(std::vector<Progress> made, int first, int batches);

// Lets each worker make a batch, then times `windows` windows of `batches` batches each while
// workers go on: neither their start nor their end is in it. The consumer takes batches as fast as
// they come. Throws what workers throw.
Throughput measure_throughput(const ImageSet& set, Form form, const LoaderOptions& options,
                              int windows, int batches);

// Seconds that a consumer waits for each of `steps` batches, when it takes one, computes for
// `step_s`, and takes the next. The first batches, which nobody could have fetched ahead, are not
// among them.
std::vector<double> waits_of_consumer(const ImageSet& set, Form form, const LoaderOptions& options,
                                      int steps, double step_s);

// The smallest value that at least `share` (0 to 1) of them do not exceed; of none it is 0.
double percentile(std::vector<double> values, double share);

}  // namespace fleetbench::images
