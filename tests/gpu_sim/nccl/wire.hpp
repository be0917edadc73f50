// What processes say to each other, byte by byte. Both ends are of one build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/gpu_sim/nccl/socket.hpp"

namespace gpu_sim::nccl {

using Bytes = std::vector<std::byte>;
using SharedBytes = std::shared_ptr<const Bytes>;

enum class PacketKind : std::uint32_t {
  hello,      // a rank to the hub: who it is
  welcome,    // the hub to all ranks: who they all are
  launch,     // a rank begins what it enqueued
  result,     // that is done
  failure,    // to all ranks: the communicator is broken
  finalize,   // a rank will launch no more
  finalized,  // nobody will
};

class Writer {
 public:
  template <typename T>
  void number(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(&value, sizeof value);
  }
  void text(const std::string& value) {
    number(value.size());
    append(value.data(), value.size());
  }
  Bytes take() { return std::move(bytes_); }

 private:
  void append(const void* from, std::size_t size) {
    if (size > 0) {
      bytes_.resize(bytes_.size() + size);
      std::memcpy(bytes_.data() + bytes_.size() - size, from, size);
    }
  }

  Bytes bytes_;
};

struct ConnectionEnded : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws ConnectionEnded where the bytes are not what a Writer wrote.
class Reader {
 public:
  explicit Reader(const Bytes& bytes) : bytes_(bytes) {}
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, next(sizeof value), sizeof value);
    return value;
  }
  std::string text() {
    const auto size = number<std::size_t>();
    return {reinterpret_cast<const char*>(next(size)), size};
  }

 private:
  const std::byte* next(std::size_t size) {
    if (size > bytes_.size() - at_) {
      throw ConnectionEnded("a packet is too short");
    }
    at_ += size;
    return bytes_.data() + at_ - size;
  }

  const Bytes& bytes_;
  std::size_t at_ = 0;
};

// Received in one piece.
struct Packet {
  PacketKind kind{};
  Bytes head;
  Bytes data;
};

// One end of a connection. Never blocks; where the other end is gone, throws ConnectionEnded.
class Connection {
 public:
  explicit Connection(Descriptor socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.get(); }
  // Takes a packet to send; `data` is kept as long as need be, not copied.
  void send(PacketKind kind, Bytes head, const std::vector<SharedBytes>& data = {});
  bool has_to_send() const { return !chunks_.empty(); }
  // Sends what the socket takes.
  void flush();
  // The packets that have come since.
  std::vector<Packet> receive();

 private:
  struct Frame {
    std::uint64_t magic;
    PacketKind kind;
    std::uint64_t head_bytes;
    std::uint64_t data_bytes;
  };
  static constexpr std::uint64_t kMagic = 0x6C63636E'6D697375;

  // Reads up to the end of `target`; true when it is full.
  bool fill(std::byte* target, std::size_t bytes);
  // True when `packet_` is whole.
  bool receive_one();

  Descriptor socket_;
  std::deque<SharedBytes> chunks_;
  std::size_t sent_ = 0;  // of the first chunk
  Frame frame_{};
  bool has_frame_ = false;
  bool has_head_ = false;
  Packet packet_;
  std::size_t filled_ = 0;  // of what is read: the frame, the head, the data
};

}  // namespace gpu_sim::nccl
