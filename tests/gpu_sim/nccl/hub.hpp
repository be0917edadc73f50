// Where the ranks of a communicator meet: in the process that made the unique id, a listening
// socket and a thread that moves bytes between the ranks.
#pragma once

#include <atomic>
#include <list>
#include <optional>
#include <thread>

#include "tests/gpu_sim/nccl/messages.hpp"

namespace gpu_sim::nccl {

class Hub {
 public:
  // Listens at `host`. `serial` is the number of this hub in its process.
  Hub(std::uint32_t host, std::uint64_t serial);
  // Ends the thread, and with it whoever is connected.
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  const Address& address() const { return address_; }
  std::uint64_t serial() const { return serial_; }
  // All ranks have come and gone.
  bool is_over() const { return over_; }

 private:
  struct Guest {
    Connection connection;
    int rank = -1;  // until it has said hello
    bool is_gone = false;
  };

  void run();
  void poll_all();
  void serve(Guest& guest);
  void handle(Guest& guest, const Packet& packet);
  void greet(Guest& guest, const Hello& hello);
  void welcome();
  void launch(const Guest& guest, const Packet& packet);
  void finalize();
  // Tells all that the communicator is broken.
  void fail(const NcclError& error);
  void tell(Guest& guest, PacketKind kind, Bytes head, const std::vector<SharedBytes>& data = {});
  void leave(Guest& guest, const std::string& why);
  std::string name_of(int rank) const;
  bool is_done() const;

  Address address_;
  std::uint64_t serial_;
  Descriptor listener_;
  Bell bell_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> over_ = false;
  // Of the thread alone.
  std::list<Guest> guests_;
  std::vector<Hello> hellos_;
  std::optional<Switchboard> switchboard_;
  std::size_t finalized_ = 0;
  bool has_met_ = false;
  bool is_final_ = false;
  std::optional<NcclError> failure_;
  std::thread thread_;
};

// A hub of this process at `host`; those that are over go.
const Hub& new_hub(std::uint32_t host);
// Ends the hub at `address`, where it is of this process; else does nothing.
void end_hub(const Address& address);

}  // namespace gpu_sim::nccl
