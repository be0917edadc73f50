// The one simulated machine of a process, which all libraries work on.
#pragma once

#include <driver_types.h>

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tests/gpu_sim/model/handles.hpp"
#include "tests/gpu_sim/model/ledger.hpp"
#include "tests/gpu_sim/model/memory.hpp"
#include "tests/gpu_sim/model/settings.hpp"
#include "tests/gpu_sim/model/timeline.hpp"

namespace gpu_sim {

struct Event {
  Device* device = nullptr;
  bool timed = true;
  OperationPtr operation;  // null: never recorded
};

using Lock = std::unique_lock<std::mutex>;

// Every member is used with `mutex` held.
class Model {
 public:
  // The first call reads the settings; a wrong one ends the process with a message.
  static Model& get();

  std::mutex mutex;
  // Told where something came that an operation waits for, so that who waits for that looks soon.
  std::condition_variable came;
  const Settings settings;
  std::vector<std::unique_ptr<Device>> devices;  // of the node, also those that CUDA does not show
  std::vector<Device*> visible;                  // by CUDA's number
  Memory memory;
  Timeline timeline;
  Handles<cudaStream_t, Queue> streams;
  Handles<cudaEvent_t, Event> events;
  Ledger ledger;
  std::optional<cudaError_t> sticky;

  // The version of CUDA that the driver knows; 0 where there is none.
  int driver_version() const;
  // Why CUDA cannot start here, if it cannot.
  std::optional<cudaError_t> start_error() const;

  // CUDA's number of the device that this thread works on.
  int current() const;
  void set_current(int number);
  // That device, with a context: throws where it is not to be had.
  Device& current_device();
  // A device by CUDA's number; throws cudaErrorInvalidDevice.
  Device& device(int number) const;
  // Throws cudaErrorDevicesUnavailable where its compute mode keeps this process out.
  void take(Device& device);

  // The queue of a stream: the default one of the current device for null.
  std::shared_ptr<Queue> queue(cudaStream_t stream);
  Queue& default_queue(Device& device);

  // Puts work into a queue and takes the time of a call.
  OperationPtr submit(Queue& queue, Operation operation);
  // Returns when all that `queue` holds is done; others may call meanwhile.
  void wait_for(Lock& lock, Queue& queue);
  void wait_for(Lock& lock, const OperationPtr& operation);
  void wait_for_device(Lock& lock, const Device& device);
  // Whether it is done by the host's time. Each no lets twice as much time pass as the one before,
  // so that asking comes to an end. Where it waits for other processes, which come when this
  // machine lets them, time stands still until they have come, and then passes to its end.
  bool is_done(const OperationPtr& operation);

  // This thread's time.
  double now_ns() { return host_ns(); }

  void reset(Lock& lock, Device& device);
  // What was not given back.
  std::string leaks() const;

 private:
  Model();
  // The host's time, of each thread its own.
  double& host_ns();
  void spend(double ns);
  bool have_come(const OperationPtr& operation);
  // Does `run` and makes an error in it sticky.
  template <typename Run>
  void guarded(Run run);

  double latest_ns_ = 0;
  std::array<std::shared_ptr<Queue>, 16> default_queues_;
  std::array<int, 16> claims_{};  // sockets that say that a device is taken
};

}  // namespace gpu_sim
