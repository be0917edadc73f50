#include "tests/gpu_sim/model/timeline.hpp"

#include <algorithm>

namespace gpu_sim {

namespace {

// Nothing where another operation must be done first.
std::optional<double> ready_ns(const Operation& operation) {
  double ready = operation.enqueued_ns;
  for (const OperationPtr& before : operation.after) {
    if (!before->done) {
      return std::nullopt;
    }
    ready = std::max(ready, before->end_ns);
  }
  return ready;
}

void finish(Queue& queue, double end_ns) {
  const OperationPtr operation = queue.waiting.front();
  queue.waiting.pop_front();
  operation->end_ns = end_ns;
  operation->done = true;
  // Chains of operations that hold each other would never end.
  operation->after.clear();
  operation->effect = nullptr;
  operation->end = nullptr;
}

}  // namespace

std::shared_ptr<Queue> Timeline::add_queue(Device& device, bool blocking) {
  std::erase_if(queues_,
                [](const auto& queue) { return queue.use_count() == 1 && queue->waiting.empty(); });
  queues_.push_back(std::make_shared<Queue>());
  queues_.back()->device = &device;
  queues_.back()->blocking = blocking;
  return queues_.back();
}

OperationPtr Timeline::enqueue(Queue& queue, Operation operation) {
  if (queue.last) {
    operation.after.push_back(queue.last);
  }
  // Whether what is before it has been looked at already must make no difference.
  operation.awaits_others |=
      std::any_of(operation.after.begin(), operation.after.end(), [&](const OperationPtr& before) {
        return before->awaits_others && (!before->done || before->end_ns > operation.enqueued_ns);
      });
  queue.last = std::make_shared<Operation>(std::move(operation));
  queue.waiting.push_back(queue.last);
  return queue.last;
}

std::optional<Timeline::Next> Timeline::next(const std::vector<Queue*>& blocked) const {
  std::optional<Next> first;
  for (const auto& queue : queues_) {
    if (queue->waiting.empty() ||
        std::find(blocked.begin(), blocked.end(), queue.get()) != blocked.end()) {
      continue;
    }
    const std::optional<double> ready = ready_ns(*queue->waiting.front());
    if (ready && (!first || *ready < first->begin_ns)) {
      first = {queue.get(), *ready};
    }
  }
  return first;
}

bool Timeline::run(const Next& next, double host_ns) {
  Operation& operation = *next.queue->waiting.front();
  double begin = next.begin_ns;
  for (const Engine* engine : operation.engines) {
    begin = std::max(begin, engine->free_ns);
  }
  double end = begin + operation.duration_ns;
  if (operation.end) {
    const std::optional<double> said = operation.end(begin, host_ns);
    if (!said) {
      return false;
    }
    end = *said;
  }
  if (operation.effect) {
    operation.effect();
    next.queue->device->worked();
  }
  for (Engine* engine : operation.engines) {
    engine->free_ns = end;
  }
  finish(*next.queue, end);
  return true;
}

template <typename More>
bool Timeline::run_while(More more, double host_ns) {
  std::vector<Queue*> blocked;
  while (const std::optional<Next> first = next(blocked)) {
    if (!more(first->begin_ns)) {
      return true;
    }
    if (!run(*first, host_ns)) {
      blocked.push_back(first->queue);
    }
  }
  return false;
}

void Timeline::run_until(double host_ns) {
  run_while([&](double begin_ns) { return begin_ns <= host_ns; }, host_ns);
}

bool Timeline::run_for(const Operation& operation, double host_ns) {
  run_while([&](double) { return !operation.done; }, host_ns);
  return operation.done;
}

void Timeline::notice(double host_ns) {
  for (const auto& queue : queues_) {
    if (queue->waiting.empty() || !queue->waiting.front()->end) {
      continue;
    }
    if (const std::optional<double> ready = ready_ns(*queue->waiting.front())) {
      run({queue.get(), *ready}, host_ns);
    }
  }
}

void Timeline::abandon_all() {
  for (const auto& queue : queues_) {
    while (!queue->waiting.empty()) {
      finish(*queue, queue->waiting.front()->enqueued_ns);
    }
  }
}

std::vector<std::shared_ptr<Queue>> Timeline::queues_of(const Device& device) const {
  std::vector<std::shared_ptr<Queue>> found;
  std::copy_if(queues_.begin(), queues_.end(), std::back_inserter(found),
               [&](const auto& queue) { return queue->device == &device; });
  return found;
}

}  // namespace gpu_sim
