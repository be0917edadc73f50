// When what happens, in modelled time. Operations wait in queues, one for each stream. They run no
// sooner than somebody waits for them or asks whether they are done, and then in the order of the
// times at which they may begin; so the times depend on the calls alone and not on how fast this
// machine is. What nobody waited for may not have happened: the program sees old data.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tests/gpu_sim/model/device.hpp"

namespace gpu_sim {

struct Operation {
  // Done when all of these are done and `duration_ns` has passed with all `engines` in its hands.
  std::vector<std::shared_ptr<Operation>> after;
  double enqueued_ns = 0;
  double duration_ns = 0;
  std::vector<Engine*> engines;
  // What it does to memory. May throw CudaError.
  std::function<void()> effect;
  // Where not only `duration_ns` says when it ends: the time, or nothing as long as that is open.
  // Of the time at which it began, and the host's.
  std::function<std::optional<double>(double begin_ns, double host_ns)> end;
  // Waits for other processes, or follows what does: Model::is_done.
  bool awaits_others = false;

  bool done = false;
  double end_ns = 0;
};
using OperationPtr = std::shared_ptr<Operation>;

struct Queue {
  Device* device = nullptr;
  bool blocking = true;  // waits for the default stream, and it for this
  std::deque<OperationPtr> waiting;
  OperationPtr last;
};

class Timeline {
 public:
  std::shared_ptr<Queue> add_queue(Device& device, bool blocking);

  // Puts `operation` behind what is in `queue`.
  OperationPtr enqueue(Queue& queue, Operation operation);

  // Runs what begins until `host_ns`.
  void run_until(double host_ns);
  // Runs until `operation` is done; false where it hangs on something that the host must do first.
  // Throws what an effect throws.
  bool run_for(const Operation& operation, double host_ns);

  // Looks at what ends when something happens and is next in its queue: so that it ends about when
  // that happened, and not when somebody waits for it.
  void notice(double host_ns);

  // Throws away what is waiting: as if it were done.
  void abandon_all();

  std::vector<std::shared_ptr<Queue>> queues_of(const Device& device) const;

 private:
  struct Next {
    Queue* queue;
    double begin_ns;
  };
  // The operation that may begin first, of those not in `blocked`.
  std::optional<Next> next(const std::vector<Queue*>& blocked) const;
  // False where the end is open.
  static bool run(const Next& next, double host_ns);
  // Runs operations while `more` of the time at which the next begins says so; false where none is
  // left that can run.
  template <typename More>
  bool run_while(More more, double host_ns);

  // One that is neither used nor holds anything goes.
  std::vector<std::shared_ptr<Queue>> queues_;
};

}  // namespace gpu_sim
