// How an agent has a slot measured: by its node's worker, by those of its GPUs, or in this rank
// over MPI. Every call returns at once; poll() brings the outcome.
#pragma once

#include <mpi.h>
#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/fleet/measurement_thread.hpp"
#include "harness/fleet/order.hpp"
#include "harness/worker/worker.hpp"
#include "probes/probe.hpp"

namespace fleetbench::fleet {

struct Outcome {
  Status status = Status::ok;
  std::string reason;
  Measurement measurement;  // of measure()
  double seconds = 0;
  double waited_s = 0;      // since the worker was asked
  Json body = {};           // the worker's answer beside values and detail
  std::string device = {};  // of the outcome of one of several devices: its label
  std::vector<Outcome> devices = {};
};

// `sent`: when the worker was asked; its own time counts where it gives one.
Outcome outcome_from(worker::Reply reply, std::chrono::steady_clock::time_point sent);

// What a worker is told to prepare an order.
Json prepare_command(const std::string& probe, const Json& params, const Json& work);
// A worker that frees its buffers does nothing that takes longer.
inline constexpr double kRelease_s = 10;

class SlotRunner {
 public:
  virtual ~SlotRunner() = default;
  virtual void prepare(const Order& order) = 0;
  virtual void measure(double limit_s) = 0;
  virtual void release() = 0;
  // The outcome of the call under way, once.
  virtual std::optional<Outcome> poll() = 0;
  // Gives up the call under way: its outcome may still come, as `timeout`, or never.
  virtual void cancel(const std::string& reason) = 0;
  // What the one who measures said last of what it is doing, for a report that it hangs:
  // "; its last words: …", or nothing.
  virtual std::string last_words() const { return ""; }
  // False while something that was given up has still to end before the next prepare().
  virtual bool ready() const = 0;
  virtual std::vector<pollfd> descriptors() const = 0;
};

class WorkerRunner : public SlotRunner {
 public:
  explicit WorkerRunner(worker::Worker& worker) : worker_(worker) {}
  void prepare(const Order& order) override;
  void measure(double limit_s) override;
  void release() override;
  std::optional<Outcome> poll() override;
  void cancel(const std::string& reason) override { worker_.cancel(reason); }
  std::string last_words() const override { return worker_.last_words(); }
  bool ready() const override { return !worker_.busy(); }
  std::vector<pollfd> descriptors() const override { return worker_.descriptors(); }

 private:
  void send(const Json& command, double limit_s);

  worker::Worker& worker_;
  std::chrono::steady_clock::time_point sent_;
  std::optional<Outcome> gone_;  // of a release that a dead worker needs no more
};

class MpiRunner : public SlotRunner {
 public:
  explicit MpiRunner(MPI_Comm measuring);
  void prepare(const Order& order) override;
  void measure(double limit_s) override;
  void release() override;
  std::optional<Outcome> poll() override;
  void cancel(const std::string& reason) override;
  bool ready() const override { return true; }
  std::vector<pollfd> descriptors() const override;

  // Measurements that were given up while they hung in MPI: MPI_Finalize may hang then too.
  int abandoned() const { return static_cast<int>(stuck_.size()); }

 private:
  struct Slot;  // what a measurement owns; outlives this object where it is abandoned
  void run(std::function<void(Slot&)> phase);
  void set_stuck_in_background(bool background);

  MPI_Comm measuring_;
  std::unique_ptr<MeasurementThread> thread_;
  std::shared_ptr<Slot> slot_;
  bool under_way_ = false;
  // Abandoned inside MPI, where they spin.
  std::vector<std::unique_ptr<MeasurementThread>> stuck_;
};

}  // namespace fleetbench::fleet
