// A rank's end of a communicator: its state, and the thread that talks with the hub.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "tests/gpu_sim/nccl/messages.hpp"

namespace gpu_sim::nccl {

// Where the ranks meet, as a unique id says it.
struct Invitation {
  Address hub;
  std::uint64_t hash = 0;  // of the unique id, as the log shows it
};

class Communicator {
 public:
  // `origin_ns` is the device's modelled time that all ranks take for the same: that of the call
  // that initialises. `announce` is called by the thread when all have met, before the state says
  // so.
  Communicator(const Invitation& invitation, Hello hello, double origin_ns,
               std::function<void(const Communicator&)> announce);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // Begins the initialisation; `init` may come in between.
  void start(Faults::Init init);

  int rank() const { return hello_.rank; }
  int ranks() const { return hello_.ranks; }
  const Member& member() const { return hello_.member; }
  const Invitation& invitation() const { return invitation_; }
  // Of all ranks, from `announce` on.
  const std::vector<Member>& members() const { return members_; }

  // ncclInProgress until all have met, then ncclSuccess, or what went wrong.
  ncclResult_t state() const;
  // Returns the state as soon as it is not ncclInProgress.
  ncclResult_t wait_until_met() const;

  // Sends a launch that begins at `begin_ns` of the device's time, and gives it a number.
  std::uint64_t begin(double begin_ns, std::vector<Call> calls, std::vector<SharedBytes> inputs);
  // The end of that launch, in the device's time; nothing as long as it is open.
  std::optional<Departure> end_of(std::uint64_t launch);

  // Says that this rank launches no more.
  void finalize();
  // All ranks have said so.
  bool is_finalized() const;
  void wait_until_finalized() const;

  // Ends the thread. What is open ends at once.
  void abort();
  bool is_aborted() const;

 private:
  void run(Faults::Init init);
  void talk();
  // Waits until the connection or the bell has something; false when it is time to end.
  bool wait_for_events(int descriptor, bool writes);
  void hand_over(Connection& connection);
  // False where nothing more will come.
  bool handle(const Packet& packet);
  void fail(const NcclError& error);
  void notify();

  struct Posted {
    PacketKind kind;
    Bytes head;
    std::vector<SharedBytes> data;
  };

  const Invitation invitation_;
  const Hello hello_;
  const double origin_ns_;
  const std::function<void(const Communicator&)> announce_;
  Bell bell_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<Member> members_;
  ncclResult_t state_ = ncclInProgress;
  bool is_aborted_ = false;
  bool is_finalized_ = false;
  std::uint64_t launches_ = 0;
  std::deque<Posted> posted_;
  std::map<std::uint64_t, Departure> ended_;
  std::thread thread_;
};

}  // namespace gpu_sim::nccl
