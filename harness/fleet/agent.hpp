// What every rank does: carries out the root's orders for its node, one slot at a time, and never
// blocks while it does.
//
// From the root                             to the root
//   {"do":"prepare", slot, runner, …Order}    {"re":"prepare", slot, status, reason, detail, s,
//                                              devices}
//   {"do":"measure", slot, limit_s,           {"re":"measure", slot, status, reason, values,
//    invitations}                              detail, s, release_s, devices}
//   {"do":"look", slot, limit_s}              {"re":"look", slot, status, reason, detail}
//   {"do":"calibrate", slot, …Order}          {"re":"calibrate", slot, status, reason, work}
//   {"do":"drop", slot}                       -
//   {"do":"cancel", slot, reason, cut}        {"re":"cancel", slot, last_words,
//                                              unanswered}
//   {"do":"attend"}                           -
//   {"do":"ping"}                             {"re":"pong"}
//   {"do":"alive"}                            -
//   {"do":"end"}                              {"re":"bye", abandoned, waiting: {…}}
//   {"do":"close"}                            -
//
// "unanswered": of a slot on GPUs, labels of those that hang.
// "devices": of a slot on GPUs [{device, status, reason, values, detail, s, invitation}…], see
// GpuRunner; the last of who others join, in its answer to "prepare".
// "invitations": by label, of those that join others; GPUs that are not among them are left out.
#pragma once

#include <mpi.h>

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "harness/fleet/gpu_runner.hpp"
#include "harness/fleet/mailbox.hpp"
#include "harness/fleet/slot_runner.hpp"
#include "harness/fleet/waiting_meter.hpp"
#include "harness/worker/worker.hpp"

namespace fleetbench::fleet {

// Tags of the control communicator.
inline constexpr int kTagToAgent = 1;
inline constexpr int kTagToRoot = 2;
inline constexpr int kRoot = 0;
// In place of a slot's number: of what is asked before there are slots.
inline constexpr int kNoSlot = -1;
inline constexpr int kLookSlot = -2;
inline constexpr int kCalibrateSlot = -3;

class Agent {
 public:
  // `worker` must outlive the agent; it is started only when a slot needs it.
  Agent(Mailbox& mailbox, MPI_Comm measuring, worker::Worker& worker,
        MakeGpuWorker make_gpu_worker);

  // Reads messages and moves on what is under way. True where something happened.
  bool tick();
  // The root has said that the next order is for this rank.
  bool attentive() const { return attentive_; }
  // The root has said that the run is over.
  bool closed() const { return closed_; }
  // Since the root last said anything.
  double root_silence_s() const;
  std::vector<pollfd> descriptors() const;

 private:
  enum class Phase { idle, asking, preparing, prepared, measuring, releasing, cancelling };

  void handle(const Json& message);
  void start(const Json& order);
  void begin(const Json& message);
  SlotRunner& runner_of(plan::Runner runner);
  void begin_asking(const Json& message);
  void advance(Outcome outcome);
  void cancel(const Json& message);
  void cancel_devices(const Json& message);
  void give_up_gpus(const std::string& reason, bool is_cut);
  void give_up(const std::string& reason);
  void say_bye();
  void reply(const char* re, const Outcome& outcome, Json extra = Json::object());
  void reply_measured(double release_s);

  Mailbox& mailbox_;
  WorkerRunner worker_runner_;
  MpiRunner mpi_runner_;
  GpuRunner gpu_runner_;
  worker::Worker& worker_;
  SlotRunner* runner_ = nullptr;
  Phase phase_ = Phase::idle;
  int slot_ = kNoSlot;
  std::string asked_;  // what is under way while asking
  Outcome measured_;
  std::deque<Json> waiting_orders_;  // prepare orders that arrived before the last slot had ended
  WaitingMeter meter_;
  std::chrono::steady_clock::time_point heard_ = std::chrono::steady_clock::now();
  bool attentive_ = false;
  bool closed_ = false;
};

}  // namespace fleetbench::fleet
