// A thread for calls that may never return.
#pragma once

#include <functional>
#include <memory>

namespace fleetbench::fleet {

// Runs one piece of work at a time. Destruction while work is under way abandons the thread: it
// keeps what its work holds and is never joined. Work must therefore own all that it touches, and
// must not throw.
class MeasurementThread {
 public:
  MeasurementThread();
  ~MeasurementThread();
  MeasurementThread(const MeasurementThread&) = delete;
  MeasurementThread& operator=(const MeasurementThread&) = delete;

  // Precondition: not busy.
  void start(std::function<void()> work);
  bool busy() const;
  // Becomes readable when work is done, for poll(2).
  int descriptor() const;
  // In the background it runs only on time that nobody else wants.
  void set_in_background(bool background);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace fleetbench::fleet
