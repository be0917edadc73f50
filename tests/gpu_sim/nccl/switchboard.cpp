#include "tests/gpu_sim/nccl/switchboard.hpp"

#include <algorithm>

#include "tests/gpu_sim/nccl/nccl_error.hpp"

namespace gpu_sim::nccl {

namespace {

const SharedBytes& nothing() {
  static const SharedBytes none = std::make_shared<const Bytes>();
  return none;
}

SharedBytes shared(Bytes bytes) { return std::make_shared<const Bytes>(std::move(bytes)); }

// Part `index` of `parts` equally long ones.
SharedBytes slice(const Bytes& bytes, std::size_t index, std::size_t parts) {
  const std::size_t size = bytes.size() / parts;
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(index * size);
  return shared({begin, begin + static_cast<std::ptrdiff_t>(size)});
}

bool fit(const Call& a, const Call& b) {
  const bool rooted = a.function == Function::broadcast || a.function == Function::reduce;
  const bool reduces = a.function != Function::all_gather && a.function != Function::broadcast;
  return a.function == b.function && a.type == b.type && a.count == b.count &&
         (!rooted || a.peer == b.peer) && (!reduces || a.op == b.op);
}

}  // namespace

std::vector<Departure> Switchboard::arrive(Arrival arrival) {
  complete_.clear();
  const auto launch = std::make_shared<Launch>();
  launch->load = load_of(arrival);
  launch->open = arrival.calls.size();
  launch->departure = {arrival.rank, arrival.launch, arrival.enter_ns,
                       std::vector<SharedBytes>(arrival.calls.size(), nothing())};
  launch->arrival = std::move(arrival);
  for (std::size_t i = 0; i < launch->arrival.calls.size(); ++i) {
    const Part part{launch, i};
    if (part.what().is_collective()) {
      join_collective(part);
    } else {
      join_transfer(part);
    }
  }
  return std::move(complete_);
}

Switchboard::Load Switchboard::load_of(const Arrival& arrival) const {
  Load load;
  for (const Call& call : arrival.calls) {
    if (call.is_collective()) {
      continue;
    }
    const bool out = call.function == Function::send;
    const int from = out ? arrival.rank : call.peer;
    const int to = out ? call.peer : arrival.rank;
    const auto medium = static_cast<std::size_t>(fabric_.medium(from, to));
    (out ? load.out : load.in)[medium] +=
        static_cast<double>(call.bytes()) / fabric_.path_bytes_per_s(from, to) * 1e9;
  }
  return load;
}

void Switchboard::settle(const Part& part, double end_ns, SharedBytes output) {
  Launch& launch = *part.launch;
  launch.departure.outputs[part.call] = std::move(output);
  launch.departure.end_ns = std::max(launch.departure.end_ns, end_ns);
  if (--launch.open == 0) {
    complete_.push_back(std::move(launch.departure));
  }
}

void Switchboard::join_collective(const Part& part) {
  const int rank = part.launch->arrival.rank;
  const std::uint64_t number = ++collectives_[rank];
  Meeting& meeting = meetings_[number];
  if (!meeting.empty()) {
    const auto& [first_rank, first] = *meeting.begin();
    require(fit(first.what(), part.what()), ncclInvalidUsage,
            "collective " + std::to_string(number) + ": rank " + std::to_string(first_rank) +
                " calls " + first.what().text() + ", rank " + std::to_string(rank) + " calls " +
                part.what().text());
  }
  meeting.emplace(rank, part);
  if (meeting.size() == fabric_.members().size()) {
    finish_collective(meeting, number);
    meetings_.erase(number);
  }
}

void Switchboard::finish_collective(const Meeting& meeting, std::uint64_t number) {
  double begin = 0;
  for (const auto& [rank, part] : meeting) {
    begin = std::max(begin, part.launch->arrival.enter_ns);
  }
  const double end = begin + fabric_.collective_ns(meeting.begin()->second.what(), number);
  auto outputs = outputs_of(meeting);
  for (const auto& [rank, part] : meeting) {
    settle(part, end, std::move(outputs[static_cast<std::size_t>(rank)]));
  }
}

std::vector<SharedBytes> Switchboard::outputs_of(const Meeting& meeting) const {
  const Call& call = meeting.begin()->second.what();
  const std::size_t ranks = meeting.size();
  std::vector<const Bytes*> inputs;
  for (const auto& [rank, part] : meeting) {
    inputs.push_back(part.input().get());
  }
  std::vector<SharedBytes> outputs(ranks, nothing());
  switch (call.function) {
    case Function::broadcast:
      outputs.assign(ranks, meeting.at(call.peer).input());
      break;
    case Function::all_gather: {
      Bytes all;
      for (const Bytes* input : inputs) {
        all.insert(all.end(), input->begin(), input->end());
      }
      outputs.assign(ranks, shared(std::move(all)));
      break;
    }
    case Function::reduce:
      outputs[static_cast<std::size_t>(call.peer)] = shared(reduced(inputs, call.type, call.op));
      break;
    case Function::reduce_scatter: {
      const Bytes all = reduced(inputs, call.type, call.op);
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        outputs[rank] = slice(all, rank, ranks);
      }
      break;
    }
    default:
      outputs.assign(ranks, shared(reduced(inputs, call.type, call.op)));
      break;
  }
  return outputs;
}

void Switchboard::join_transfer(const Part& part) {
  const int rank = part.launch->arrival.rank;
  const bool sends = part.what().function == Function::send;
  const int peer = part.what().peer;
  Pair& pair = pairs_[sends ? std::pair(rank, peer) : std::pair(peer, rank)];
  (sends ? pair.sends : pair.receives).push_back(part);
  if (!pair.sends.empty() && !pair.receives.empty()) {
    const Part send = pair.sends.front();
    const Part receive = pair.receives.front();
    pair.sends.pop_front();
    pair.receives.pop_front();
    finish_transfer(send, receive, ++pair.number);
  }
}

void Switchboard::finish_transfer(const Part& send, const Part& receive, std::uint64_t number) {
  const int from = send.launch->arrival.rank;
  const int to = receive.launch->arrival.rank;
  require(send.what().bytes() == receive.what().bytes(), ncclInvalidUsage,
          "rank " + std::to_string(from) + " calls " + send.what().text() + ", rank " +
              std::to_string(to) + " calls " + receive.what().text());
  const auto medium = static_cast<std::size_t>(fabric_.medium(from, to));
  // What goes the same way goes one after the other, and all ends together.
  const double busy = std::max(send.launch->load.out[medium], receive.launch->load.in[medium]);
  const double begin = std::max(send.launch->arrival.enter_ns, receive.launch->arrival.enter_ns);
  const double end = begin + fabric_.varied_transfer(from, to, number,
                                                     fabric_.transfer_latency_ns(from, to) + busy);
  settle(send, end, nothing());
  settle(receive, end, send.input());
}

}  // namespace gpu_sim::nccl
