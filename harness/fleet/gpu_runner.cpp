#include "harness/fleet/gpu_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/fleet/whole_node.hpp"
#include "harness/plan/upper_median.hpp"

namespace fleetbench::fleet {
namespace {

using Clock = std::chrono::steady_clock;

// A little less than what the root leaves a whole node, see plan/deadline.hpp.
constexpr double kRestLeast_s = 4;
constexpr double kRestFactor = 2.5;

// One that was given up may take a while to die; the slot that it was given up in is over.
void stop_if_dying(worker::Worker& worker) {
  if (worker.busy()) {
    worker.stop();
  }
}

}  // namespace

worker::Worker& GpuRunner::worker_for(const std::string& uuid) {
  const auto found = workers_.find(uuid);
  return found != workers_.end() ? found->second
                                 : workers_.emplace(uuid, make_worker_(uuid)).first->second;
}

void GpuRunner::send(Seat& seat, const Json& command, double limit_s) {
  seat.asked = true;
  seat.failed.reset();
  seat.outcome.reset();
  seat.worker->send(command, limit_s);
}

void GpuRunner::prepare(const Order& order) {
  seats_.clear();
  together_.clear();
  invitations_.clear();
  in_teams_ = !order.teams.empty();
  joined_ = false;
  sent_ = Clock::now();
  under_way_ = true;
  if (order.in_one_process) {
    prepare_together(order);
    return;
  }
  if (const auto of_all = workers_.find(""); of_all != workers_.end()) {
    of_all->second.stop();
  }
  for (const GpuSeat& gpu : order.gpus) {
    Seat& seat = seats_.emplace_back();
    seat.gpu = gpu;
    seat.worker = &worker_for(gpu.uuid);
    stop_if_dying(*seat.worker);
    Json work = order.work;
    if (in_teams_) {
      work["place"] = place_of(order.teams.at(static_cast<std::size_t>(gpu.team)), gpu.index);
    }
    send(seat, prepare_command(order.probe, order.params, work), order.limit_s);
  }
}

// The others end: what they keep of their devices would be in its way.
void GpuRunner::prepare_together(const Order& order) {
  for (auto& [uuid, worker] : workers_) {
    worker.stop();
  }
  together_ = order.gpus;
  Seat& seat = seats_.emplace_back();
  seat.gpu.label = "the worker for all GPUs";
  seat.worker = &worker_for("");
  send(seat, prepare_command(order.probe, order.params, work_for_all(order.work, order.gpus)),
       order.limit_s);
}

void GpuRunner::measure(double limit_s) {
  sent_ = Clock::now();
  under_way_ = true;
  joined_ = in_teams_;
  bool reads_network = true;  // one of them does for all
  for (Seat& seat : seats_) {
    seat.asked = false;
    const auto invitation = invitations_.find(seat.gpu.label);
    if (!seat.takes_part || (joined_ && invitation == invitations_.end())) {
      continue;
    }
    Json command{{"cmd", "measure"}, {"network", std::exchange(reads_network, false)}};
    if (joined_) {
      command["invitation"] = invitation->second;
    }
    send(seat, command, limit_s);
  }
}

void GpuRunner::release() {
  sent_ = Clock::now();
  under_way_ = true;
  joined_ = false;
  for (Seat& seat : seats_) {
    // Also of who failed in this slot; what a dead one took went with it.
    seat.asked = false;
    if (!together_.empty()) {
      seat.worker->stop();  // it was started for this slot
    }
    if (seat.worker->running() && !seat.worker->busy()) {
      send(seat, {{"cmd", "release"}}, kRelease_s);
    }
  }
}

void GpuRunner::poll_seat(Seat& seat) {
  if (seat.outcome || !seat.worker->busy()) {
    return;
  }
  if (auto reply = seat.worker->poll()) {
    seat.outcome = outcome_from(std::move(*reply), sent_);
    if (seat.outcome->status != Status::ok) {
      seat.failed = Clock::now();
    }
  }
}

std::optional<Outcome> GpuRunner::poll() {
  if (scout_) {
    auto seen = scout_->poll();
    if (seen) {
      scout_.reset();
    }
    return seen;
  }
  for (Seat& seat : seats_) {
    poll_seat(seat);
  }
  // Of who was given up the answer still comes, and is worth nothing.
  for (auto& [uuid, worker] : workers_) {
    const bool is_awaited = std::ranges::any_of(seats_, [&worker](const Seat& seat) {
      return seat.worker == &worker && seat.asked && !seat.outcome;
    });
    if (worker.busy() && !is_awaited) {
      worker.poll();
    }
  }
  if (under_way_ && joined_) {
    give_up_the_forsaken();
  } else if (under_way_) {
    give_up_the_late();
  }
  const bool all =
      std::ranges::all_of(seats_, [](const Seat& seat) { return seat.outcome || !seat.asked; });
  if (!under_way_ || !all) {
    return std::nullopt;
  }
  under_way_ = false;
  return all_outcomes();
}

void GpuRunner::give_up_the_late() {
  // A failure may come at once and tells nothing of how long the work takes.
  std::vector<double> answered_s;
  std::size_t at_work = 0;
  for (const Seat& seat : seats_) {
    if (seat.asked && seat.outcome && seat.outcome->status == Status::ok) {
      answered_s.push_back(seat.outcome->waited_s);
    } else if (seat.asked && !seat.outcome) {
      ++at_work;
    }
  }
  if (at_work == 0 || answered_s.size() < at_work) {
    return;
  }
  const double usual_s = plan::upper_median(answered_s);
  const double waited_s = std::chrono::duration<double>(Clock::now() - sent_).count();
  if (waited_s <= std::max(kRestLeast_s, kRestFactor * usual_s)) {
    return;
  }
  for (Seat& seat : seats_) {
    give_up(seat, fmt::format("no answer within {:.1f} s, other GPUs of the node took {:.1f} s",
                              waited_s, usual_s));
  }
}

void GpuRunner::give_up_the_forsaken() {
  for (const Seat& other : seats_) {
    if (!other.failed ||
        Clock::now() - *other.failed < std::chrono::duration<double>(kTeamRest_s)) {
      continue;
    }
    for (Seat& seat : seats_) {
      if (seat.gpu.team == other.gpu.team) {
        give_up(seat, fmt::format("no answer {:.0f} s after that of {}, which measured with it",
                                  kTeamRest_s, other.gpu.label));
      }
    }
  }
}

void GpuRunner::give_up(Seat& seat, const std::string& reason) {
  if (seat.asked && !seat.outcome && seat.worker->busy()) {
    seat.outcome = Outcome{.status = Status::timeout, .reason = reason + seat.worker->last_words()};
    seat.worker->cancel(reason);
  }
}

Outcome GpuRunner::all_outcomes() {
  if (!together_.empty() && seats_.front().asked) {
    Seat& seat = seats_.front();
    seat.asked = false;
    Outcome all = outcome_of_all(std::move(*seat.outcome), together_);
    seat.outcome.reset();
    seat.takes_part = all.status == Status::ok;
    if (!seat.takes_part) {
      seat.worker->stop();  // nobody releases who is not prepared
    }
    return all;
  }
  Outcome all{.status = Status::failed, .reason = "no GPU of this node measures it"};
  for (Seat& seat : seats_) {
    if (!std::exchange(seat.asked, false)) {
      continue;
    }
    Outcome& one = all.devices.emplace_back(std::move(*seat.outcome));
    seat.outcome.reset();
    one.device = seat.gpu.label;
    all.seconds = std::max(all.seconds, one.seconds);
    if (one.status == Status::ok) {
      all.status = Status::ok;
      all.reason.clear();
    } else {
      seat.takes_part = false;
    }
  }
  return all;
}

void GpuRunner::cancel(const std::string& reason) {
  for (Seat& seat : seats_) {
    poll_seat(seat);
    give_up(seat, reason);
  }
  if (scout_) {
    scout_->cancel(reason);
  }
}

void GpuRunner::cancel_devices(const std::vector<std::string>& labels, const std::string& reason) {
  for (Seat& seat : seats_) {
    if (std::ranges::count(labels, seat.gpu.label) > 0) {
      poll_seat(seat);
      give_up(seat, reason);
    }
  }
}

std::string GpuRunner::last_words() const {
  if (scout_) {
    return scout_->last_words();
  }
  for (const Seat& seat : seats_) {
    if (seat.asked && !seat.outcome && !seat.worker->last_words().empty()) {
      return fmt::format("{} of {}", seat.worker->last_words(), seat.gpu.label);
    }
  }
  return "";
}

std::vector<std::string> GpuRunner::unanswered() const {
  std::vector<std::string> labels;
  for (const Seat& seat : seats_) {
    if (seat.asked && !seat.outcome && together_.empty()) {
      labels.push_back(seat.gpu.label);
    }
  }
  if (!together_.empty() && seats_.front().asked && !seats_.front().outcome) {
    std::ranges::transform(together_, std::back_inserter(labels), &GpuSeat::label);
  }
  return labels;
}

bool GpuRunner::ready() const {
  return !scout_ &&
         std::ranges::none_of(workers_, [](const auto& entry) { return entry.second.busy(); });
}

std::vector<pollfd> GpuRunner::descriptors() const {
  std::vector<pollfd> all;
  const auto add = [&all](const worker::Worker& worker) {
    const auto some = worker.descriptors();
    all.insert(all.end(), some.begin(), some.end());
  };
  for (const auto& [uuid, worker] : workers_) {
    add(worker);
  }
  if (scout_) {
    const auto some = scout_->descriptors();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

void GpuRunner::look(double limit_s) { scout_.emplace(make_worker_(""), limit_s); }

void GpuRunner::calibrate(const Order& order) {
  seats_.clear();
  together_.clear();
  joined_ = false;
  sent_ = Clock::now();
  under_way_ = true;
  Seat& seat = seats_.emplace_back();
  seat.gpu = order.gpus.front();
  seat.worker = &worker_for(seat.gpu.uuid);
  stop_if_dying(*seat.worker);
  send(seat, {{"cmd", "calibrate"}, {"probe", order.probe}, {"params", order.params}},
       order.limit_s);
}

void GpuRunner::stop() {
  for (auto& [uuid, worker] : workers_) {
    worker.stop();
  }
  scout_.reset();
}

}  // namespace fleetbench::fleet
