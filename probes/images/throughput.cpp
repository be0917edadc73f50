#include "probes/images/throughput.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "probes/support/host_files.hpp"
#include "probes/support/median.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench::images {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<BytesRead> bytes_read_now() {
  const auto text = HostFiles().read_text("/proc/self/io");
  return text ? parse_process_io(*text) : std::nullopt;
}

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

std::optional<BytesRead> parse_process_io(std::string_view text) {
  const auto all = field_value(text, "rchar");
  const auto from_device = field_value(text, "read_bytes");
  if (!all || !from_device) {
    return std::nullopt;
  }
  const auto all_bytes = parse_integer(*all);
  const auto device_bytes = parse_integer(*from_device);
  if (!all_bytes || !device_bytes) {
    return std::nullopt;
  }
  return BytesRead{*all_bytes, *device_bytes};
}

double page_cache_share(const BytesRead& before, const BytesRead& after) {
  const auto all = static_cast<double>(after.all - before.all);
  const auto from_device = static_cast<double>(after.from_device - before.from_device);
  return all > 0 ? std::clamp(1 - from_device / all, 0.0, 1.0) : 1;
}

double Throughput::images_per_s() const { return median(windows); }

std::vector<double> window_rates(std::vector<Progress> made, int first, int batches) {
  std::sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  std::vector<double> rates;
  auto edge = static_cast<std::size_t>(first) - 1;
  const auto step = static_cast<std::size_t>(batches);
  for (; edge + step < made.size(); edge += step) {
    const Progress& from = made[edge];
    const Progress& to = made[edge + step];
    rates.push_back(static_cast<double>(to.images - from.images) / seconds(to.at - from.at));
  }
  return rates;
}

Throughput measure_throughput(const ImageSet& set, Form form, const LoaderOptions& options,
                              int windows, int batches) {
  Throughput throughput;
  const auto read_before = bytes_read_now();
  Loader loader(set, form, options);
  std::vector<Progress> made;
  for (int i = 0; i < options.workers + windows * batches; ++i) {
    auto batch = loader.next();
    made.push_back({batch->made_at, batch->images_done});
    loader.give_back(std::move(batch));
  }
  throughput.windows = window_rates(std::move(made), options.workers, batches);
  throughput.stages = loader.finish();
  const auto read_after = bytes_read_now();
  if (read_before && read_after) {
    throughput.page_cache_share = page_cache_share(*read_before, *read_after);
  }
  return throughput;
}

std::vector<double> waits_of_consumer(const ImageSet& set, Form form, const LoaderOptions& options,
                                      int steps, double step_s) {
  Loader loader(set, form, options);
  for (int i = 0; i < options.workers; ++i) {
    loader.give_back(loader.next());
  }
  std::vector<double> waits;
  for (int i = 0; i < steps; ++i) {
    std::this_thread::sleep_for(std::chrono::duration<double>(step_s));
    const auto asked = Clock::now();
    auto batch = loader.next();
    waits.push_back(seconds(Clock::now() - asked));
    loader.give_back(std::move(batch));
  }
  return waits;
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

}  // namespace fleetbench::images
