#include "tests/gpu_sim/nccl/wire.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace gpu_sim::nccl {

namespace {

// What is larger is not meant.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 36;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

void Connection::send(PacketKind kind, Bytes head, const std::vector<SharedBytes>& data) {
  Frame frame{kMagic, kind, head.size(), 0};
  for (const SharedBytes& part : data) {
    frame.data_bytes += part->size();
  }
  Writer first;
  first.number(frame);
  Bytes start = first.take();
  start.insert(start.end(), head.begin(), head.end());
  chunks_.push_back(std::make_shared<const Bytes>(std::move(start)));
  for (const SharedBytes& part : data) {
    if (!part->empty()) {
      chunks_.push_back(part);
    }
  }
}

void Connection::flush() {
  while (!chunks_.empty()) {
    const Bytes& chunk = *chunks_.front();
    const ssize_t sent =
        ::send(socket_.get(), chunk.data() + sent_, chunk.size() - sent_, MSG_NOSIGNAL);
    if (sent < 0) {
      if (would_block()) {
        return;
      }
      throw ConnectionEnded(std::strerror(errno));
    }
    sent_ += static_cast<std::size_t>(sent);
    if (sent_ == chunk.size()) {
      chunks_.pop_front();
      sent_ = 0;
    }
  }
}

bool Connection::fill(std::byte* target, std::size_t bytes) {
  while (filled_ < bytes) {
    const ssize_t got = recv(socket_.get(), target + filled_, bytes - filled_, 0);
    if (got == 0) {
      throw ConnectionEnded("Connection closed by remote peer");
    }
    if (got < 0) {
      if (would_block()) {
        return false;
      }
      throw ConnectionEnded(std::strerror(errno));
    }
    filled_ += static_cast<std::size_t>(got);
  }
  filled_ = 0;
  return true;
}

bool Connection::receive_one() {
  if (!has_frame_) {
    if (!fill(reinterpret_cast<std::byte*>(&frame_), sizeof frame_)) {
      return false;
    }
    if (frame_.magic != kMagic || frame_.head_bytes > kMostBytes ||
        frame_.data_bytes > kMostBytes) {
      throw ConnectionEnded("something came that is not of this library");
    }
    has_frame_ = true;
    packet_ = {frame_.kind, Bytes(frame_.head_bytes), Bytes(frame_.data_bytes)};
    has_head_ = false;
  }
  if (!has_head_ && !fill(packet_.head.data(), packet_.head.size())) {
    return false;
  }
  has_head_ = true;
  if (!fill(packet_.data.data(), packet_.data.size())) {
    return false;
  }
  has_frame_ = false;
  return true;
}

std::vector<Packet> Connection::receive() {
  std::vector<Packet> packets;
  try {
    while (receive_one()) {
      packets.push_back(std::move(packet_));
    }
  } catch (const ConnectionEnded&) {
    // What came before the end counts; the next call finds the end again.
    if (packets.empty()) {
      throw;
    }
  }
  return packets;
}

}  // namespace gpu_sim::nccl
