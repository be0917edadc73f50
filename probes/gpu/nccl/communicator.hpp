// A communicator of NCCL that blocks nowhere: each wait has an end that names who waited, how long
// and for what.
#pragma once

#include <nccl.h>

#include <chrono>
#include <functional>
#include <string>

#include "probes/gpu/handles.hpp"
#include "probes/gpu/nccl/nccl_library.hpp"
#include "probes/gpu/nccl/place.hpp"

namespace fleetbench::gpu::nccl {

struct WaitLimits {
  double init_s = 60;
  double wait_s = 20;  // without anything getting done
};

// What is going on, for whoever reads that it did not end.
struct Progress {
  std::string phase;  // "all_reduce of 8 MiB"
  int calls = 0;      // of the phase; 0: it is not made of calls
  int done = 0;       // of them, as far as is known
};

// All ranks of the place construct one at about the same time and do the same with it, in the same
// order. Throws TimedOut and NoMeasurement with {"phase", "calls_done", "calls"} as detail,
// CudaError, std::runtime_error.
class Communicator {
 public:
  // `gpu` is selected, and outlives it, as `place` does.
  Communicator(const Gpu& gpu, const Place& place, const ncclUniqueId& id, WaitLimits limits);
  // Aborts it where finish() was not called or did not return.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // Precondition: nothing that was enqueued is under way.
  void finish();
  // Whatever is under way ends; nothing more can be done with it. Nothing after finish().
  void abort();

  const Gpu& gpu() const { return gpu_; }
  const Place& place() const { return place_; }
  ncclComm_t get() const { return comm_; }
  const Calls& calls() const { return library_.calls(); }

  Progress& progress() { return progress_; }
  // In seconds beyond WaitLimits::wait_s, for calls that are known to take long.
  void allow_longer(double seconds) { longer_s_ = seconds; }

  // Of a call that was made for this communicator. Waits until it has come to an end on the host,
  // as calls of a communicator that does not block must before the next one.
  void check(ncclResult_t result, const char* call);
  // Until the event is complete, or an error of this rank or another one is known.
  void wait(const Event& event);

  // Whether an abort of this process did not return: its GPU may be busy for ever, so that memory
  // can no longer be freed and another process must go on.
  static bool is_stuck();

 private:
  void settle(ncclResult_t result, const char* call, double limit_s);
  // Waits until `is_over`; past the limit gives up.
  void poll(double limit_s, const std::function<bool()>& is_over);
  void check_others(double limit_s);
  [[noreturn]] void fail(ncclResult_t result, const char* call);
  [[noreturn]] void give_up(const char* until);
  double waited_s() const;
  Json known() const;

  const Library& library_;
  const Gpu& gpu_;
  const Place& place_;
  WaitLimits limits_;
  double longer_s_ = 0;
  Progress progress_;
  std::chrono::steady_clock::time_point wait_began_;
  ncclComm_t comm_ = nullptr;
};

// A new one, and hexadecimal as it travels to the other ranks. Throws std::runtime_error, of which
// the text says what NCCL lacks.
ncclUniqueId new_unique_id();
std::string to_hex(const ncclUniqueId& id);
// Throws std::runtime_error where it is none.
ncclUniqueId unique_id_from(const std::string& hex);

}  // namespace fleetbench::gpu::nccl
