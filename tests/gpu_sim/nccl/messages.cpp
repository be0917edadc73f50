#include "tests/gpu_sim/nccl/messages.hpp"

namespace gpu_sim::nccl {

namespace {

// Consecutive parts of a packet's data.
class Cutter {
 public:
  explicit Cutter(const Bytes& data) : data_(data) {}
  SharedBytes next(std::size_t bytes) {
    if (bytes > data_.size() - at_) {
      throw ConnectionEnded("a packet's data are too short");
    }
    const auto begin = data_.begin() + static_cast<std::ptrdiff_t>(at_);
    at_ += bytes;
    return std::make_shared<const Bytes>(begin, begin + static_cast<std::ptrdiff_t>(bytes));
  }

 private:
  const Bytes& data_;
  std::size_t at_ = 0;
};

}  // namespace

Bytes written(const Hello& hello) {
  Writer writer;
  writer.number(hello.rank);
  writer.number(hello.ranks);
  hello.member.write(writer);
  return writer.take();
}

Hello hello_of(const Packet& packet) {
  Reader reader(packet.head);
  Hello hello;
  hello.rank = reader.number<int>();
  hello.ranks = reader.number<int>();
  hello.member = Member::read(reader);
  return hello;
}

Bytes written(const std::vector<Member>& members) {
  Writer writer;
  writer.number(members.size());
  for (const Member& member : members) {
    member.write(writer);
  }
  return writer.take();
}

std::vector<Member> members_of(const Packet& packet) {
  Reader reader(packet.head);
  std::vector<Member> members;
  const auto count = reader.number<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) {
    members.push_back(Member::read(reader));
  }
  return members;
}

Bytes written(const Arrival& arrival) {
  Writer writer;
  writer.number(arrival.launch);
  writer.number(arrival.enter_ns);
  writer.number(arrival.calls.size());
  for (const Call& call : arrival.calls) {
    writer.number(call);
  }
  return writer.take();
}

Arrival arrival_of(const Packet& packet, int rank, int ranks) {
  Reader reader(packet.head);
  Cutter cutter(packet.data);
  Arrival arrival;
  arrival.rank = rank;
  arrival.launch = reader.number<std::uint64_t>();
  arrival.enter_ns = reader.number<double>();
  const auto count = reader.number<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) {
    arrival.calls.push_back(reader.number<Call>());
    arrival.inputs.push_back(cutter.next(arrival.calls.back().input_bytes(rank, ranks)));
  }
  return arrival;
}

Bytes written(const Departure& departure) {
  Writer writer;
  writer.number(departure.launch);
  writer.number(departure.end_ns);
  writer.number(departure.outputs.size());
  for (const SharedBytes& output : departure.outputs) {
    writer.number(output->size());
  }
  return writer.take();
}

Departure departure_of(const Packet& packet) {
  Reader reader(packet.head);
  Cutter cutter(packet.data);
  Departure departure;
  departure.launch = reader.number<std::uint64_t>();
  departure.end_ns = reader.number<double>();
  const auto count = reader.number<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) {
    departure.outputs.push_back(cutter.next(reader.number<std::size_t>()));
  }
  return departure;
}

Bytes written(const NcclError& error) {
  Writer writer;
  writer.number(error.code);
  writer.text(error.what());
  return writer.take();
}

NcclError error_of(const Packet& packet) {
  Reader reader(packet.head);
  const auto code = reader.number<ncclResult_t>();
  return {code, reader.text()};
}

}  // namespace gpu_sim::nccl
