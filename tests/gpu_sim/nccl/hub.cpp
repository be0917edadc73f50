#include "tests/gpu_sim/nccl/hub.hpp"

#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

namespace gpu_sim::nccl {

namespace {

struct Hubs {
  std::mutex mutex;
  std::list<Hub> all;
  std::uint64_t made = 0;
};

// Never destroyed: threads of hubs that nobody came to may still run when the process ends.
Hubs& hubs() {
  static auto* hubs = new Hubs;
  return *hubs;
}

}  // namespace

const Hub& new_hub(std::uint32_t host) {
  const std::lock_guard lock(hubs().mutex);
  hubs().all.remove_if([](const Hub& hub) { return hub.is_over(); });
  return hubs().all.emplace_back(host, ++hubs().made);
}

void end_hub(const Address& address) {
  const std::lock_guard lock(hubs().mutex);
  hubs().all.remove_if([&](const Hub& hub) {
    return hub.address().host == address.host && hub.address().port == address.port;
  });
}

Hub::Hub(std::uint32_t host, std::uint64_t serial)
    : address_{host, 0},
      serial_(serial),
      listener_(listening(address_)),
      thread_([this] { run(); }) {}

Hub::~Hub() {
  stop_ = true;
  bell_.ring();
  thread_.join();
}

void Hub::run() {
  while (!stop_ && !is_done()) {
    poll_all();
  }
  guests_.clear();
  listener_ = Descriptor();
  over_ = true;
}

bool Hub::is_done() const {
  if (is_final_ || failure_) {
    return std::all_of(guests_.begin(), guests_.end(),
                       [](const Guest& guest) { return !guest.connection.has_to_send(); }) &&
           (is_final_ || (has_met_ && guests_.empty()));
  }
  return false;
}

void Hub::poll_all() {
  std::vector<pollfd> watched{{bell_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  for (const Guest& guest : guests_) {
    const int events = POLLIN | (guest.connection.has_to_send() ? POLLOUT : 0);
    watched.push_back({guest.connection.descriptor(), static_cast<short>(events), 0});
  }
  poll(watched.data(), watched.size(), -1);
  auto guest = guests_.begin();
  for (std::size_t i = 2; i < watched.size(); ++i, ++guest) {
    if (watched[i].revents != 0) {
      serve(*guest);
    }
  }
  if (watched[1].revents != 0) {
    Descriptor socket = accepted(listener_);
    if (socket.get() >= 0) {
      guests_.push_back({Connection(std::move(socket))});
    }
  }
  guests_.remove_if([](const Guest& one) { return one.is_gone; });
}

void Hub::serve(Guest& guest) {
  try {
    guest.connection.flush();
    for (const Packet& packet : guest.connection.receive()) {
      handle(guest, packet);
    }
  } catch (const ConnectionEnded& error) {
    leave(guest, error.what());
  } catch (const NcclError& error) {
    fail(error);
  }
}

void Hub::leave(Guest& guest, const std::string& why) {
  guest.is_gone = true;
  if (guest.rank >= 0 && !is_final_) {
    fail({ncclRemoteError, "socketProgress: " + why + " : " + name_of(guest.rank)});
  }
}

void Hub::tell(Guest& guest, PacketKind kind, Bytes head, const std::vector<SharedBytes>& data) {
  if (guest.is_gone || guest.rank < 0) {
    return;
  }
  guest.connection.send(kind, std::move(head), data);
  try {
    guest.connection.flush();
  } catch (const ConnectionEnded& error) {
    leave(guest, error.what());
  }
}

void Hub::fail(const NcclError& error) {
  if (failure_) {
    return;
  }
  failure_ = error;
  for (Guest& guest : guests_) {
    tell(guest, PacketKind::failure, written(error));
  }
}

std::string Hub::name_of(int rank) const {
  const auto found = std::find_if(hellos_.begin(), hellos_.end(),
                                  [&](const Hello& hello) { return hello.rank == rank; });
  return "rank " + std::to_string(rank) +
         (found == hellos_.end() ? "" : " (" + found->member.name() + ")");
}

void Hub::handle(Guest& guest, const Packet& packet) {
  if (guest.rank < 0) {
    if (packet.kind != PacketKind::hello) {
      throw ConnectionEnded("a packet came before the hello");
    }
    greet(guest, hello_of(packet));
  } else if (failure_) {
    return;
  } else if (packet.kind == PacketKind::launch) {
    launch(guest, packet);
  } else if (packet.kind == PacketKind::finalize && ++finalized_ == hellos_.size()) {
    is_final_ = true;
    for (Guest& one : guests_) {
      tell(one, PacketKind::finalized, {});
    }
  }
}

void Hub::greet(Guest& guest, const Hello& hello) {
  guest.rank = hello.rank;
  if (failure_) {
    tell(guest, PacketKind::failure, written(*failure_));
    return;
  }
  for (const Hello& other : hellos_) {
    require(other.ranks == hello.ranks && other.rank != hello.rank, ncclInvalidUsage,
            "Bootstrap : " + name_of(other.rank) + " of " + std::to_string(other.ranks) +
                " and rank " + std::to_string(hello.rank) + " of " + std::to_string(hello.ranks) +
                " (" + hello.member.name() + ") do not fit");
    require(other.member.node != hello.member.node || other.member.gpu != hello.member.gpu,
            ncclInvalidUsage,
            "Duplicate GPU detected : rank " + std::to_string(other.rank) + " and rank " +
                std::to_string(hello.rank) + " both on " + hello.member.name());
    require(other.member.version == hello.member.version, ncclInvalidUsage,
            "Mismatched NCCL version detected : rank " + std::to_string(other.rank) + " version " +
                std::to_string(other.member.version) + " rank " + std::to_string(hello.rank) +
                " version " + std::to_string(hello.member.version));
  }
  hellos_.push_back(hello);
  if (hellos_.size() == static_cast<std::size_t>(hello.ranks)) {
    welcome();
  }
}

void Hub::welcome() {
  has_met_ = true;
  std::sort(hellos_.begin(), hellos_.end(),
            [](const Hello& a, const Hello& b) { return a.rank < b.rank; });
  std::vector<Member> members;
  for (const Hello& hello : hellos_) {
    members.push_back(hello.member);
  }
  for (Guest& guest : guests_) {
    tell(guest, PacketKind::welcome, written(members));
  }
  switchboard_.emplace(Fabric(std::move(members), serial_));
}

void Hub::launch(const Guest& guest, const Packet& packet) {
  if (!switchboard_) {
    throw ConnectionEnded("a launch came before the welcome");
  }
  std::vector<Departure> complete;
  try {
    const int ranks = static_cast<int>(hellos_.size());
    complete = switchboard_->arrive(arrival_of(packet, guest.rank, ranks));
  } catch (const NcclError& error) {
    // On a real machine this would hang, crash or give wrong results.
    std::fprintf(stderr, "gpu_sim: NCCL: %s\n", error.what());
    throw;
  }
  for (const Departure& departure : complete) {
    for (Guest& one : guests_) {
      if (one.rank == departure.rank) {
        tell(one, PacketKind::result, written(departure), departure.outputs);
      }
    }
  }
}

}  // namespace gpu_sim::nccl
