// What PyTorch's DataLoader does with N workers: they read, decode, crop, flip, normalise and
// collate; a consumer takes batches.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "probes/images/batch_queue.hpp"
#include "probes/images/pipeline.hpp"

namespace fleetbench::images {

struct LoaderOptions {
  int workers = 1;
  int batch = 16;    // images
  int prefetch = 2;  // batches that each worker may be ahead
  int crop = 224;    // pixels, each side of what a training step gets
  // Called in each worker's thread before it allocates anything; may bind it to a place.
  std::function<void()> on_start;
};

// Threads work from construction to destruction, on epoch after epoch without end. What goes wrong
// in a worker comes out of next(). Neither finish() nor the destructor waits for more than the
// image that each worker is at.
class Loader {
 public:
  // `set` must outlive it. Throws std::system_error where there can be no more threads.
  Loader(const ImageSet& set, Form form, LoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // For one consumer. See BatchQueue.
  std::unique_ptr<Batch> next() { return queue_.take(); }
  void give_back(std::unique_ptr<Batch> batch) { queue_.give_back(std::move(batch)); }

  // Images that have gone through all stages until now, also those of batches that are being made.
  std::uint64_t images_done() const { return queue_.images_done(); }
  // Ends the workers; what they spent their time on, from their start. Throws what one failed with
  // and next() has not told yet.
  StageTimes finish();

 private:
  void work();
  void fill(Ticket& ticket, Pipeline& pipeline, StageClock& clock);
  void end_threads();

  const ImageSet& set_;
  const Form form_;
  const LoaderOptions options_;
  Order order_;
  BatchQueue queue_;
  std::mutex mutex_;
  StageTimes times_;  // under mutex_
  std::vector<std::thread> threads_;
};

}  // namespace fleetbench::images
