#include "harness/fleet/agent.hpp"

#include <utility>

#include "harness/plan/slots.hpp"

namespace fleetbench::fleet {
namespace {

Json devices_of(Outcome& outcome) {
  Json devices = Json::array();
  for (Outcome& one : outcome.devices) {
    devices.push_back({{"device", one.device},
                       {"status", to_string(one.status)},
                       {"reason", one.reason},
                       {"values", values_to_json(one.measurement.values)},
                       {"detail", std::move(one.measurement.detail)},
                       {"s", one.seconds}});
    if (one.body.contains("invitation")) {
      devices.back()["invitation"] = std::move(one.body["invitation"]);
    }
  }
  return devices;
}

}  // namespace

Agent::Agent(Mailbox& mailbox, MPI_Comm measuring, worker::Worker& worker,
             MakeGpuWorker make_gpu_worker)
    : mailbox_(mailbox),
      worker_runner_(worker),
      mpi_runner_(measuring),
      gpu_runner_(std::move(make_gpu_worker)),
      worker_(worker) {
  meter_.resume();
}

bool Agent::tick() {
  bool worked = false;
  while (const auto envelope = mailbox_.receive()) {
    heard_ = std::chrono::steady_clock::now();
    handle(envelope->message);
    worked = true;
  }
  if (runner_ != nullptr) {
    if (auto outcome = runner_->poll()) {
      advance(std::move(*outcome));
      worked = true;
    }
  }
  if (runner_ != &gpu_runner_) {
    gpu_runner_.poll();  // sees those to their end that were given up
  }
  if (phase_ == Phase::cancelling && runner_->ready()) {
    phase_ = Phase::idle;
  }
  if (phase_ == Phase::idle && !waiting_orders_.empty()) {
    const Json order = std::move(waiting_orders_.front());
    waiting_orders_.pop_front();
    start(order);
  }
  return worked;
}

void Agent::handle(const Json& message) {
  const auto what = message.at("do").get<std::string>();
  if (what == "prepare" || what == "look" || what == "calibrate") {
    if (phase_ == Phase::idle) {
      start(message);
    } else {
      waiting_orders_.push_back(message);
    }
  } else if (what == "measure" && phase_ == Phase::prepared && message.at("slot") == slot_) {
    phase_ = Phase::measuring;
    if (message.contains("invitations")) {
      gpu_runner_.invite(message["invitations"].get<Invitations>());
    }
    runner_->measure(message.at("limit_s").get<double>());
  } else if (what == "drop" && phase_ == Phase::prepared && message.at("slot") == slot_) {
    give_up("not needed");
  } else if (what == "attend") {
    attentive_ = true;
  } else if (what == "ping") {
    mailbox_.send(kRoot, {{"re", "pong"}});
  } else if (what == "cancel" && message.contains("devices")) {
    cancel_devices(message);
  } else if (what == "cancel") {
    cancel(message);
  } else if (what == "end") {
    say_bye();
  } else if (what == "close") {
    closed_ = true;
  }
}

void Agent::begin(const Json& message) {
  const Order order = order_from(message);
  runner_ = &runner_of(order.runner);
  if (runner_ == &mpi_runner_) {
    meter_.pause();
  }
  slot_ = order.slot;
  attentive_ = false;
  phase_ = Phase::preparing;
  runner_->prepare(order);
}

void Agent::start(const Json& order) {
  if (order.at("do") == "prepare") {
    begin(order);
  } else {
    begin_asking(order);
  }
}

SlotRunner& Agent::runner_of(plan::Runner runner) {
  switch (runner) {
    case plan::Runner::rank:
      return mpi_runner_;
    case plan::Runner::gpu_workers:
      return gpu_runner_;
    case plan::Runner::worker:
      break;
  }
  return worker_runner_;
}

void Agent::begin_asking(const Json& message) {
  runner_ = &gpu_runner_;
  slot_ = message.at("slot").get<int>();
  asked_ = message.at("do").get<std::string>();
  phase_ = Phase::asking;
  if (asked_ == "look") {
    gpu_runner_.look(message.at("limit_s").get<double>());
  } else {
    gpu_runner_.calibrate(order_from(message));
  }
}

void Agent::advance(Outcome outcome) {
  switch (phase_) {
    case Phase::asking: {
      phase_ = Phase::idle;
      // Of a calibration the one device's outcome says more than that of all.
      Outcome& one = outcome.devices.empty() ? outcome : outcome.devices.front();
      reply(asked_.c_str(), one,
            {{"detail", std::move(one.measurement.detail)},
             {"work", one.body.value("work", Json::object())}});
      break;
    }
    case Phase::preparing:
      phase_ = outcome.status == Status::ok ? Phase::prepared : Phase::idle;
      reply("prepare", outcome,
            {{"detail", outcome.measurement.detail}, {"devices", devices_of(outcome)}});
      break;
    case Phase::measuring:
      measured_ = std::move(outcome);
      phase_ = Phase::releasing;
      runner_->release();
      return;
    case Phase::releasing:
      phase_ = Phase::idle;
      reply_measured(outcome.seconds);
      break;
    case Phase::idle:
    case Phase::prepared:
    case Phase::cancelling:
      break;  // what was given up has ended
  }
  if (phase_ == Phase::idle) {
    meter_.resume();
  }
}

void Agent::cancel(const Json& message) {
  const auto slot = message.at("slot").get<int>();
  Json reply{{"re", "cancel"}, {"slot", slot}};
  std::erase_if(waiting_orders_, [&](const Json& order) { return order.at("slot") == slot; });
  if (slot != kNoSlot && slot == slot_) {
    const auto reason = message.at("reason").get<std::string>();
    if (phase_ == Phase::releasing) {
      reply_measured(0);  // what is measured counts, however long the cleaning up takes
    }
    reply["last_words"] = runner_->last_words();
    if (runner_ == &gpu_runner_) {
      reply["unanswered"] = gpu_runner_.unanswered();
    }
    if (phase_ == Phase::measuring && runner_ == &gpu_runner_) {
      give_up_gpus(reason, message.value("cut", false));
    } else {
      give_up(reason);
    }
  }
  mailbox_.send(kRoot, reply);
}

// They are part of the answer, which comes with that of the others.
void Agent::cancel_devices(const Json& message) {
  if (message.at("slot") == slot_ && phase_ == Phase::measuring && runner_ == &gpu_runner_) {
    gpu_runner_.cancel_devices(message.at("devices").get<std::vector<std::string>>(),
                               message.at("reason").get<std::string>());
  }
}

// One GPU that hangs does not cost what the others of the node gave. Where the run's time is up,
// nobody is to blame for not having answered.
void Agent::give_up_gpus(const std::string& reason, bool is_cut) {
  gpu_runner_.cancel(reason);
  if (auto outcome = gpu_runner_.poll()) {
    measured_ = std::move(*outcome);
    if (is_cut) {
      std::erase_if(measured_.devices,
                    [](const Outcome& one) { return one.status == Status::timeout; });
    }
    reply_measured(0);
  }
  slot_ = kNoSlot;
  phase_ = Phase::releasing;
  gpu_runner_.release();
}

void Agent::give_up(const std::string& reason) {
  slot_ = kNoSlot;
  if (phase_ == Phase::prepared) {
    phase_ = Phase::releasing;
    runner_->release();
  } else if (phase_ != Phase::idle) {
    runner_->cancel(reason);
    phase_ = Phase::cancelling;
    meter_.resume();
  }
}

void Agent::say_bye() {
  meter_.pause();
  worker_.stop();
  gpu_runner_.stop();
  mailbox_.send(kRoot, {{"re", "bye"},
                        {"slot", -1},
                        {"abandoned", mpi_runner_.abandoned()},
                        {"waiting", meter_.report()}});
}

void Agent::reply(const char* re, const Outcome& outcome, Json extra) {
  if (slot_ == kNoSlot) {
    return;
  }
  extra["re"] = re;
  extra["slot"] = slot_;
  extra["status"] = to_string(outcome.status);
  extra["reason"] = outcome.reason;
  extra["s"] = outcome.seconds;
  mailbox_.send(kRoot, extra);
}

void Agent::reply_measured(double release_s) {
  reply("measure", measured_,
        {{"values", values_to_json(measured_.measurement.values)},
         {"detail", std::move(measured_.measurement.detail)},
         {"devices", devices_of(measured_)},
         {"release_s", release_s}});
}

std::vector<pollfd> Agent::descriptors() const {
  return runner_ != nullptr ? runner_->descriptors() : std::vector<pollfd>{};
}

double Agent::root_silence_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - heard_).count();
}

}  // namespace fleetbench::fleet
