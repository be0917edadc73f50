#include "probes/gpu/nccl/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "probes/probe.hpp"

namespace fleetbench::gpu::nccl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kEagerPolls = 200;
constexpr auto kAskEvery = std::chrono::microseconds(50);
// Asking about the others takes a lock that NCCL's own threads want.
constexpr int kPollsPerCheck = 20;
// Who waited for more than this share of what it may when it hears of an end waited in vain, too.
constexpr double kMostPatience = 0.5;
constexpr auto kLongestAbort = std::chrono::seconds(3);

std::atomic<bool> stuck = false;

}  // namespace

bool Communicator::is_stuck() { return stuck; }

Communicator::Communicator(const Gpu& gpu, const Place& place, const ncclUniqueId& id,
                           WaitLimits limits)
    : library_(shared_library()), gpu_(gpu), place_(place), limits_(limits) {
  progress_.phase = "the initialisation of the communicator";
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  try {
    settle(calls().comm_init_rank_config(&comm_, static_cast<int>(place.size()), id,
                                         static_cast<int>(place.index), &config),
           "ncclCommInitRankConfig", limits.init_s);
  } catch (...) {
    abort();
    throw;
  }
}

Communicator::~Communicator() { abort(); }

void Communicator::finish() {
  progress_ = {.phase = "the end of the communicator"};
  settle(calls().comm_finalize(comm_), "ncclCommFinalize", limits_.wait_s);
  const ncclComm_t comm = std::exchange(comm_, nullptr);
  const ncclResult_t result = calls().comm_destroy(comm);
  if (result != ncclSuccess && result != ncclInProgress) {  // the rest goes on in a thread of NCCL
    fail(result, "ncclCommDestroy");
  }
}

void Communicator::check(ncclResult_t result, const char* call) {
  settle(result, call, limits_.wait_s + longer_s_);
}

void Communicator::settle(ncclResult_t result, const char* call, double limit_s) {
  if (result != ncclSuccess && result != ncclInProgress) {
    fail(result, call);
  }
  if (result == ncclSuccess) {
    return;
  }
  ncclResult_t state = ncclInProgress;
  poll(limit_s, [&] {
    if (const ncclResult_t asked = calls().comm_get_async_error(comm_, &state);
        asked != ncclSuccess) {
      fail(asked, "ncclCommGetAsyncError");
    }
    return state != ncclInProgress;
  });
  if (state != ncclSuccess) {
    fail(state, call);
  }
}

void Communicator::wait(const Event& event) {
  int polls = 0;
  const double limit_s = limits_.wait_s + longer_s_;
  poll(limit_s, [&] {
    const cudaError_t code = cudaEventQuery(event.get());
    if (code == cudaErrorNotReady) {
      cudaGetLastError();  // CUDA remembers "not ready" as an error, which a launch would return
      if (++polls % kPollsPerCheck == 0) {
        check_others(limit_s);
      }
      return false;
    }
    gpu_.check(code, "cudaEventQuery after calls of NCCL");
    return true;
  });
}

void Communicator::poll(double limit_s, const std::function<bool()>& is_over) {
  wait_began_ = Clock::now();
  for (int polls = 0; !is_over(); ++polls) {
    if (waited_s() > limit_s) {
      give_up("");
    }
    if (polls < kEagerPolls) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kAskEvery);
    }
  }
}

double Communicator::waited_s() const {
  return std::chrono::duration<double>(Clock::now() - wait_began_).count();
}

// Of ranks that wait for the same one, the first to give it up ends the communicator for all.
void Communicator::check_others(double limit_s) {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = calls().comm_get_async_error(comm_, &state);
  if (asked != ncclSuccess || (state != ncclSuccess && state != ncclInProgress)) {
    if (state == ncclRemoteError && waited_s() > kMostPatience * limit_s) {
      give_up(" until another rank gave up");
    }
    fail(asked != ncclSuccess ? asked : state, progress_.phase.c_str());
  }
}

// In a thread, for an abort waits for kernels to see it, and one that does not would hold up even
// the news of what was wrong.
void Communicator::abort() {
  const ncclComm_t comm = std::exchange(comm_, nullptr);
  if (comm == nullptr) {
    return;
  }
  std::promise<void> over;
  const auto ended = over.get_future();
  std::thread([comm, abort = calls().comm_abort, device = gpu_.info().index,
               over = std::move(over)]() mutable {
    cudaSetDevice(device);
    abort(comm);
    over.set_value();
  }).detach();
  if (ended.wait_for(kLongestAbort) != std::future_status::ready) {
    stuck = true;
  }
}

// The text before the abort, after which NCCL knows no more of the communicator.
void Communicator::fail(ncclResult_t result, const char* call) {
  const char* last = calls().get_last_error(comm_);
  const std::string more = last == nullptr || *last == '\0' ? "" : fmt::format(": {}", last);
  const std::string text =
      fmt::format("{}: {}: {}{}", place_.own_name(), call, calls().get_error_string(result), more);
  abort();
  throw NoMeasurement(text, known());
}

void Communicator::give_up(const char* until) {
  const double waited = waited_s();
  std::string where = progress_.phase;
  if (progress_.calls > 0) {
    where += fmt::format(", call {} of {}", std::min(progress_.done + 1, progress_.calls),
                         progress_.calls);
  }
  abort();
  throw TimedOut(fmt::format("{} waited {:.3g} s in {}{}", place_.own_name(), waited, where, until),
                 known());
}

Json Communicator::known() const {
  return {{"phase", progress_.phase},
          {"calls_done", progress_.done},
          {"calls", progress_.calls},
          {"members", place_.size()}};
}

ncclUniqueId new_unique_id() {
  ncclUniqueId id{};
  const Calls& calls = shared_library().calls();
  if (const ncclResult_t result = calls.get_unique_id(&id); result != ncclSuccess) {
    const char* last = calls.get_last_error(nullptr);
    throw std::runtime_error(fmt::format("ncclGetUniqueId: {}: {}", calls.get_error_string(result),
                                         last == nullptr ? "" : last));
  }
  return id;
}

std::string to_hex(const ncclUniqueId& id) {
  std::string hex;
  for (const char byte : id.internal) {
    hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return hex;
}

ncclUniqueId unique_id_from(const std::string& hex) {
  ncclUniqueId id{};
  const auto digit = [&](std::size_t i) {
    const auto place = std::string_view("0123456789abcdef").find(hex[i]);
    return place == std::string_view::npos ? -1 : static_cast<int>(place);
  };
  bool is_right = hex.size() == 2 * sizeof id.internal;
  for (std::size_t i = 0; is_right && i < sizeof id.internal; ++i) {
    is_right = digit(2 * i) >= 0 && digit(2 * i + 1) >= 0;
    id.internal[i] = static_cast<char>(digit(2 * i) * 16 + digit(2 * i + 1));
  }
  if (!is_right) {
    throw std::runtime_error(fmt::format("\"{}\" is no unique id of NCCL: {} hexadecimal digits",
                                         hex.substr(0, 16), 2 * sizeof id.internal));
  }
  return id;
}

}  // namespace fleetbench::gpu::nccl
