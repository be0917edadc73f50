#include "probes/images/batch_queue.hpp"

#include <algorithm>
#include <stdexcept>

namespace fleetbench::images {

BatchQueue::BatchQueue(std::size_t limit, std::size_t batch_bytes)
    : limit_(std::max<std::size_t>(1, limit)), batch_bytes_(batch_bytes) {}

std::optional<Ticket> BatchQueue::begin() {
  Ticket ticket;
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return stopped_ || begun_ - taken_ < limit_; });
    if (stopped_) {
      return std::nullopt;
    }
    ticket.number = begun_++;
    if (!spare_.empty()) {
      ticket.batch = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  if (!ticket.batch) {
    ticket.batch = std::make_unique<Batch>(batch_bytes_);
  }
  ticket.batch->images.clear();
  return ticket;
}

void BatchQueue::deliver(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  // Both under the lock: else a thread that is descheduled between them would turn their order.
  ticket.batch->images_done = images_done_;
  ticket.batch->made_at = std::chrono::steady_clock::now();
  made_.emplace(ticket.number, std::move(ticket.batch));
  ready_.notify_one();
}

void BatchQueue::fail(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  failure_ = failure_ ? failure_ : failure;
  stopped_ = true;
  ready_.notify_all();
  room_.notify_all();
}

std::unique_ptr<Batch> BatchQueue::take() {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [&] { return stopped_ || made_.count(taken_) == 1; });
  if (failure_) {
    std::rethrow_exception(failure_);
  }
  if (stopped_) {
    throw std::logic_error("a batch was asked of a queue that has stopped");
  }
  auto batch = std::move(made_.extract(taken_).mapped());
  ++taken_;
  room_.notify_one();
  return batch;
}

void BatchQueue::give_back(std::unique_ptr<Batch> batch) {
  const std::lock_guard lock(mutex_);
  spare_.push_back(std::move(batch));
}

void BatchQueue::throw_failure() {
  const std::lock_guard lock(mutex_);
  if (failure_) {
    std::rethrow_exception(failure_);
  }
}

void BatchQueue::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  ready_.notify_all();
  room_.notify_all();
}

}  // namespace fleetbench::images
