// How an agent has a slot measured on the GPUs of its node that it owns: by a worker for each, all
// at the same time; or, where the order says so, by one for all of them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/fleet/gpu_scout.hpp"
#include "harness/fleet/slot_runner.hpp"
#include "harness/worker/worker.hpp"

namespace fleetbench::fleet {

// How long those have that measure with one that failed, from then on: its connections are cut by
// then, or its time was up and theirs is soon.
inline constexpr double kTeamRest_s = 5;

// Makes the worker for the GPU with this UUID; without one, for any.
using MakeGpuWorker = std::function<worker::Worker(const std::string& uuid)>;

// An outcome has one of its own for each device; it is ok where that of any device is. Who fails in
// a phase takes no part in the next one. Who takes far longer than most others of the node is a
// time-out before the root gives up the whole node. A worker lives from the first slot on that it
// is needed in; one for all GPUs lives in its slot alone, and no other does meanwhile. Those that
// measure with each other have time limits of their own and say then what they waited for; once one
// of a team has failed, the others of it have kTeamRest_s to say so.
class GpuRunner : public SlotRunner {
 public:
  explicit GpuRunner(MakeGpuWorker make_worker) : make_worker_(std::move(make_worker)) {}

  void prepare(const Order& order) override;
  // Of who is prepared to measure with others: those that do, before measure().
  void invite(Invitations invitations) { invitations_ = std::move(invitations); }
  void measure(double limit_s) override;
  void release() override;
  std::optional<Outcome> poll() override;
  // Who has not answered is a time-out at once; the answers of the others stand, and are the next
  // outcome.
  void cancel(const std::string& reason) override;
  // The same of these devices alone.
  void cancel_devices(const std::vector<std::string>& labels, const std::string& reason);
  std::string last_words() const override;
  // Labels of who owes an answer in the phase under way.
  std::vector<std::string> unanswered() const;
  bool ready() const override;
  std::vector<pollfd> descriptors() const override;

  // What CUDA shows this process, by a worker that ends afterwards, so that it holds nothing of any
  // device. The outcome's detail is gpu_inventory's.
  void look(double limit_s);
  // The work of a step, tried on the first device of the order. The outcome's detail is
  // {"work": {…}}.
  void calibrate(const Order& order);
  // Ends all workers.
  void stop();

 private:
  struct Seat {
    GpuSeat gpu;
    worker::Worker* worker = nullptr;
    std::optional<Outcome> outcome;  // of the phase under way
    bool asked = false;              // in the phase under way
    bool takes_part = true;          // has not failed in this slot
    std::optional<std::chrono::steady_clock::time_point> failed = {};  // in the phase under way
  };

  worker::Worker& worker_for(const std::string& uuid);
  void prepare_together(const Order& order);
  void send(Seat& seat, const Json& command, double limit_s);
  void poll_seat(Seat& seat);
  void give_up_the_late();
  void give_up_the_forsaken();
  void give_up(Seat& seat, const std::string& reason);
  Outcome all_outcomes();

  MakeGpuWorker make_worker_;
  std::map<std::string, worker::Worker> workers_;  // by UUID
  std::vector<Seat> seats_;                        // of the slot under way
  std::vector<GpuSeat> together_;  // in a slot of one worker for all: these, and it has one seat
  std::optional<GpuScout> scout_;
  bool in_teams_ = false;  // the seats of the slot under way
  bool joined_ = false;    // ... and they measure
  Invitations invitations_;
  std::chrono::steady_clock::time_point sent_;
  bool under_way_ = false;
};

}  // namespace fleetbench::fleet
