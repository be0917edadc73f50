// Between the workers of a loader and its consumer: batches that are made, in order.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "probes/support/pages.hpp"

namespace fleetbench::images {

struct Batch {
  explicit Batch(std::size_t bytes) : pages(bytes) {}

  Pages pages;                      // the tensor, image after image
  std::vector<std::size_t> images;  // their numbers in the set
  // Noted when it was delivered, so that a consumer that comes late changes no figure.
  std::chrono::steady_clock::time_point made_at;
  std::uint64_t images_done = 0;  // by all workers until then; never less than in an earlier one
};

// A batch that a worker has begun.
struct Ticket {
  std::uint64_t number = 0;  // its place in the order, from 0
  std::unique_ptr<Batch> batch;
};

// As PyTorch's DataLoader does it, `limit` (prefetch_factor x workers) batches may be begun or
// ready and not yet taken; the consumer gets them in order. Unlike there, a worker takes the next
// batch when it is free: a slow worker slows the others only once they are `limit` ahead of it.
//
// Any number of threads. stop() and fail() wake everybody who waits, now or later, so that nobody
// waits for what will not come. Tensors are used again, the last one first: no more of them are
// touched than are in use at once.
class BatchQueue {
 public:
  BatchQueue(std::size_t limit, std::size_t batch_bytes);

  // For workers. Waits for room; nothing once the queue has stopped.
  std::optional<Ticket> begin();
  void count_image() { ++images_done_; }
  void deliver(Ticket ticket);
  // The first failure is kept, and ends the queue.
  void fail(std::exception_ptr failure);
  bool has_stopped() const { return stopped_; }

  // Of batches that are made or being made, until now.
  std::uint64_t images_done() const { return images_done_; }

  // For the consumer: waits for the next batch in order. Throws what a worker failed with as soon
  // as it did, std::logic_error after stop().
  std::unique_ptr<Batch> take();
  void give_back(std::unique_ptr<Batch> batch);
  void stop();
  // Throws what a worker failed with, where one did.
  void throw_failure();

 private:
  const std::size_t limit_;
  const std::size_t batch_bytes_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable ready_;
  std::atomic<bool> stopped_ = false;  // written under mutex_
  std::atomic<std::uint64_t> images_done_ = 0;
  std::exception_ptr failure_;
  std::uint64_t begun_ = 0;
  std::uint64_t taken_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Batch>> made_;
  std::vector<std::unique_ptr<Batch>> spare_;
};

}  // namespace fleetbench::images
