#include "harness/fleet/slot_runner.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "probes/mpi/mpi_probe.hpp"
#include "probes/mpi/sub_communicator.hpp"
#include "probes/support/slot_evidence.hpp"
#include "results-schema/version.hpp"

namespace fleetbench::fleet {
namespace {

using Clock = std::chrono::steady_clock;

// Tags of messages: each slot has kTagsPerSlot of its own.
constexpr int kTagsPerSlot = 8;
constexpr int kTagRange = SubCommunicator::kFirstTag;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Outcome outcome_from(worker::Reply reply, Clock::time_point sent) {
  Outcome outcome{reply.status, std::move(reply.reason), {}, seconds_since(sent)};
  outcome.measurement.values = values_from_json(reply.body.value("values", Json::array()));
  outcome.measurement.detail = reply.body.value("detail", Json());
  if (reply.body.contains("measure_s") && reply.body["measure_s"].is_number()) {
    outcome.seconds = reply.body["measure_s"].get<double>();
  }
  outcome.waited_s = seconds_since(sent);
  outcome.body = std::move(reply.body);
  return outcome;
}

Json prepare_command(const std::string& probe, const Json& params, const Json& work) {
  return {{"cmd", "prepare"},
          {"probe", probe},
          {"params", params},
          {"work", work},
          {"build", fmt::format("{} {}", kVersion, kBuild)}};
}

void WorkerRunner::send(const Json& command, double limit_s) {
  sent_ = Clock::now();
  worker_.send(command, limit_s);
}

void WorkerRunner::prepare(const Order& order) {
  send(prepare_command(order.probe, order.params, order.work), order.limit_s);
}

void WorkerRunner::measure(double limit_s) { send({{"cmd", "measure"}}, limit_s); }

void WorkerRunner::release() {
  if (worker_.running()) {
    send({{"cmd", "release"}}, kRelease_s);
  } else {
    gone_ = Outcome{};  // its memory went with it
  }
}

std::optional<Outcome> WorkerRunner::poll() {
  if (gone_) {
    return std::exchange(gone_, std::nullopt);
  }
  auto reply = worker_.poll();
  if (!reply) {
    return std::nullopt;
  }
  return outcome_from(std::move(*reply), sent_);
}

struct MpiRunner::Slot {
  Order order;
  MpiGroup group;
  std::unique_ptr<Prepared> prepared;
  std::optional<SlotEvidence> evidence;  // while it is prepared or measured
  Outcome outcome;

  // Of what went wrong, too: it may say why.
  void add_evidence() {
    if (evidence) {
      outcome.measurement.detail["evidence"] = evidence->finish();
      evidence.reset();
    }
  }
};

MpiRunner::MpiRunner(MPI_Comm measuring) : measuring_(measuring) {}

// The thread holds the slot as long as it works on it.
void MpiRunner::run(std::function<void(Slot&)> phase) {
  under_way_ = true;
  set_stuck_in_background(false);
  try {
    thread_ = thread_ ? std::move(thread_) : std::make_unique<MeasurementThread>();
  } catch (const std::system_error& error) {
    slot_->outcome = {
        Status::failed, fmt::format("no thread to measure in: {}", error.what()), {}, 0};
    return;
  }
  thread_->start([slot = slot_, phase = std::move(phase)] {
    slot->outcome = Outcome{};
    const auto start = Clock::now();
    try {
      phase(*slot);
    } catch (const std::exception& error) {
      slot->outcome = {status_of(error), error.what(), {{}, detail_of(error)}, 0};
    }
    slot->outcome.seconds = seconds_since(start);
    slot->add_evidence();
  });
}

void MpiRunner::prepare(const Order& order) {
  slot_ = std::make_shared<Slot>();
  slot_->order = order;
  int rank = 0;
  MPI_Comm_rank(measuring_, &rank);
  const auto me = std::find(order.members.begin(), order.members.end(), rank);
  slot_->group = {.world = measuring_,
                  .members = order.members,
                  .me = static_cast<int>(me - order.members.begin()),
                  .tag = order.turn * kTagsPerSlot % kTagRange,
                  .turn = order.turn};
  run([](Slot& slot) {
    const MpiProbe* probe = find_mpi_probe(slot.order.probe);
    if (probe == nullptr) {
      throw NotAvailable("this program has no probe \"" + slot.order.probe + "\"");
    }
    slot.evidence.emplace();  // what is wrong is found here, before anything is timed
    slot.prepared = probe->prepare(slot.order.params, slot.order.work, slot.group);
    slot.evidence.reset();
  });
}

void MpiRunner::measure(double /*limit_s*/) {
  run([](Slot& slot) {
    slot.evidence.emplace();
    slot.outcome.measurement = slot.prepared->measure();
    check_values(slot.outcome.measurement);
  });
}

void MpiRunner::release() {
  run([](Slot& slot) {
    slot.prepared.reset();
    malloc_trim(0);  // the buffers that MPI took for large messages must not stay resident either
  });
}

std::optional<Outcome> MpiRunner::poll() {
  if (!under_way_ || (thread_ && thread_->busy())) {
    return std::nullopt;
  }
  under_way_ = false;
  set_stuck_in_background(true);
  return std::move(slot_->outcome);
}

// Of the threads that wait inside MPI one makes the progress of all, and that may be a stuck one:
// it gets its share of time while something is measured over MPI, and none while it is not.
void MpiRunner::set_stuck_in_background(bool background) {
  for (const auto& thread : stuck_) {
    thread->set_in_background(background);
  }
}

void MpiRunner::cancel(const std::string& /*reason*/) {
  if (under_way_ && thread_ && thread_->busy()) {
    stuck_.push_back(std::move(thread_));
  }
  set_stuck_in_background(true);
  under_way_ = false;
  slot_.reset();
}

std::vector<pollfd> MpiRunner::descriptors() const {
  if (!under_way_ || !thread_) {
    return {};
  }
  return {{thread_->descriptor(), POLLIN, 0}};
}

}  // namespace fleetbench::fleet
