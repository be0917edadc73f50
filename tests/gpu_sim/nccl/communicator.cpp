#include "tests/gpu_sim/nccl/communicator.hpp"

#include <poll.h>

#include <array>

#include "tests/gpu_sim/nccl/log.hpp"

namespace gpu_sim::nccl {

namespace {

using Guard = std::unique_lock<std::mutex>;

}  // namespace

Communicator::Communicator(const Invitation& invitation, Hello hello, double origin_ns,
                           std::function<void(const Communicator&)> announce)
    : invitation_(invitation),
      hello_(std::move(hello)),
      origin_ns_(origin_ns),
      announce_(std::move(announce)) {}

Communicator::~Communicator() { abort(); }

void Communicator::start(Faults::Init init) {
  thread_ = std::thread([this, init] { run(init); });
}

void Communicator::notify() {
  changed_.notify_all();
  Model::get().came.notify_all();
}

ncclResult_t Communicator::state() const {
  const Guard lock(mutex_);
  return state_;
}

ncclResult_t Communicator::wait_until_met() const {
  Guard lock(mutex_);
  changed_.wait(lock, [&] { return state_ != ncclInProgress || is_aborted_; });
  return state_;
}

std::uint64_t Communicator::begin(double begin_ns, std::vector<Call> calls,
                                  std::vector<SharedBytes> inputs) {
  const Guard lock(mutex_);
  const std::uint64_t number = ++launches_;
  Bytes head = written(Arrival{hello_.rank, number, begin_ns - origin_ns_, std::move(calls),
                               std::vector<SharedBytes>()});
  posted_.push_back({PacketKind::launch, std::move(head), std::move(inputs)});
  bell_.ring();
  return number;
}

std::optional<Departure> Communicator::end_of(std::uint64_t launch) {
  const Guard lock(mutex_);
  auto ended = ended_.extract(launch);
  if (ended.empty()) {
    return std::nullopt;
  }
  ended.mapped().end_ns += origin_ns_;
  return std::move(ended.mapped());
}

void Communicator::finalize() {
  const Guard lock(mutex_);
  posted_.push_back({PacketKind::finalize, {}, {}});
  bell_.ring();
}

bool Communicator::is_finalized() const {
  const Guard lock(mutex_);
  return is_finalized_;
}

void Communicator::wait_until_finalized() const {
  Guard lock(mutex_);
  changed_.wait(lock, [&] { return is_finalized_ || is_aborted_ || state_ != ncclSuccess; });
}

void Communicator::abort() {
  {
    const Guard lock(mutex_);
    is_aborted_ = true;
    bell_.ring();
  }
  notify();
  if (thread_.joinable()) {
    thread_.join();
  }
}

bool Communicator::is_aborted() const {
  const Guard lock(mutex_);
  return is_aborted_;
}

void Communicator::fail(const NcclError& error) {
  {
    const Guard lock(mutex_);
    if (is_finalized_ || is_aborted_) {
      return;
    }
    state_ = error.code;
  }
  warn(error.what());
  notify();
}

bool Communicator::wait_for_events(int descriptor, bool writes) {
  std::array<pollfd, 2> watched{
      {{bell_.get(), POLLIN, 0},
       {descriptor, static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0}}};
  poll(watched.data(), watched.size(), -1);
  bell_.silence();
  return !is_aborted();
}

void Communicator::run(Faults::Init init) {
  try {
    require(init != Faults::Init::fails, ncclSystemError,
            "Call to ibv_modify_qp failed with error Connection timed out");
    if (init == Faults::Init::hangs) {
      while (wait_for_events(-1, false)) {
      }
      return;
    }
    talk();
  } catch (const ConnectionEnded& error) {
    fail({ncclRemoteError,
          std::string("socketProgress: ") + error.what() + " : " + invitation_.hub.text()});
  } catch (const NcclError& error) {
    fail(error);
  }
}

void Communicator::talk() {
  Descriptor socket = connecting(invitation_.hub);
  pollfd arrived{socket.get(), POLLOUT, 0};
  while (poll(&arrived, 1, 0) == 0) {
    if (!wait_for_events(socket.get(), true)) {
      return;
    }
  }
  require_connected(socket, invitation_.hub);
  Connection connection(std::move(socket));
  connection.send(PacketKind::hello, written(hello_));
  while (true) {
    hand_over(connection);
    connection.flush();
    if (!wait_for_events(connection.descriptor(), connection.has_to_send())) {
      return;
    }
    for (const Packet& packet : connection.receive()) {
      if (!handle(packet)) {
        return;
      }
    }
  }
}

void Communicator::hand_over(Connection& connection) {
  const Guard lock(mutex_);
  for (Posted& posted : posted_) {
    connection.send(posted.kind, std::move(posted.head), posted.data);
  }
  posted_.clear();
}

bool Communicator::handle(const Packet& packet) {
  switch (packet.kind) {
    case PacketKind::welcome: {
      members_ = members_of(packet);
      announce_(*this);
      const Guard lock(mutex_);
      state_ = ncclSuccess;
      break;
    }
    case PacketKind::result: {
      Departure departure = departure_of(packet);
      const Guard lock(mutex_);
      ended_[departure.launch] = std::move(departure);
      break;
    }
    case PacketKind::finalized: {
      const Guard lock(mutex_);
      is_finalized_ = true;
      break;
    }
    case PacketKind::failure:
      fail(error_of(packet));
      return false;
    default:
      throw ConnectionEnded("a packet came that the hub does not send");
  }
  notify();
  return packet.kind != PacketKind::finalized;
}

}  // namespace gpu_sim::nccl
