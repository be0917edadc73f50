#include "probes/images/loader.hpp"

namespace fleetbench::images {
namespace {

std::size_t image_values(const LoaderOptions& options) {
  const auto side = static_cast<std::size_t>(options.crop);
  return 3 * side * side;
}

std::size_t batch_bytes(const LoaderOptions& options) {
  return static_cast<std::size_t>(options.batch) * image_values(options) * sizeof(float);
}

}  // namespace

Loader::Loader(const ImageSet& set, Form form, LoaderOptions options)
    : set_(set),
      form_(form),
      options_(std::move(options)),
      order_(set),
      queue_(static_cast<std::size_t>(options_.workers * options_.prefetch),
             batch_bytes(options_)) {
  try {
    for (int i = 0; i < options_.workers; ++i) {
      threads_.emplace_back([this] { work(); });
    }
  } catch (...) {
    end_threads();
    throw;
  }
}

Loader::~Loader() { end_threads(); }

StageTimes Loader::finish() {
  end_threads();
  queue_.throw_failure();
  return times_;
}

void Loader::end_threads() {
  queue_.stop();
  for (auto& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

void Loader::work() {
  StageTimes times;
  try {
    if (options_.on_start) {
      options_.on_start();
    }
    Pipeline pipeline(set_, make_source(set_, form_, order_), options_.crop);
    StageClock clock(times);
    while (auto ticket = queue_.begin()) {
      clock.end_of(Stage::idle);
      fill(*ticket, pipeline, clock);
      queue_.deliver(std::move(*ticket));
    }
  } catch (...) {
    queue_.fail(std::current_exception());
  }
  const std::lock_guard lock(mutex_);
  times_ += times;
}

void Loader::fill(Ticket& ticket, Pipeline& pipeline, StageClock& clock) {
  const auto batch = static_cast<std::uint64_t>(options_.batch);
  const std::span<float> tensor = ticket.batch->pages.as<float>();
  for (std::uint64_t i = 0; i < batch && !queue_.has_stopped(); ++i) {
    const auto place = tensor.subspan(i * pipeline.image_values(), pipeline.image_values());
    ticket.batch->images.push_back(pipeline.run(ticket.number * batch + i, place, clock));
    clock.count_image();
    queue_.count_image();
  }
}

}  // namespace fleetbench::images
