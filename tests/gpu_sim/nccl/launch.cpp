// Launches: operations of a stream that begin when the stream comes to them and end when the hub
// says so.
#include <map>
#include <utility>

#include "tests/gpu_sim/nccl/announcement.hpp"

namespace gpu_sim::nccl {

namespace {

struct Faulty {
  bool hangs = false;
  bool wrong = false;
};

// The fault that comes with the next call of a function on `device`.
Faulty next_fault(const Device& device, Function function) {
  static auto* counts = new std::map<std::pair<int, Function>, std::uint64_t>;
  const std::uint64_t number = ++(*counts)[{device.index(), function}];
  const Faults& faults = device.faults();
  const auto hang = faults.nccl_hang.find(names_of(function).fault);
  const auto wrong = faults.nccl_wrong.find(names_of(function).fault);
  return {hang != faults.nccl_hang.end() && number == hang->second,
          wrong != faults.nccl_wrong.end() && number >= wrong->second};
}

// Makes an element in the middle another one, in the byte that weighs most.
void spoil(std::byte* data, const Call& call, std::size_t bytes) {
  const std::size_t size = element_bytes(call.type);
  if (bytes >= size) {
    data[bytes / size / 2 * size + size - 1] ^= std::byte{4};
  }
}

class Launch {
 public:
  Launch(EndpointPtr endpoint, std::vector<LocalCall> calls)
      : endpoint_(std::move(endpoint)), calls_(std::move(calls)) {
    for (const LocalCall& local : calls_) {
      faults_.push_back(next_fault(*endpoint_->device, local.call.function));
      hangs_ |= faults_.back().hangs;
    }
  }

  // Operation::end.
  std::optional<double> end(const Model& model, double begin_ns) {
    Communicator& communicator = *endpoint_->communicator;
    if (communicator.is_aborted()) {
      return begin_ns;
    }
    if (hangs_) {
      return std::nullopt;
    }
    if (number_ == 0) {
      begin(model, begin_ns);
    }
    const std::optional<Departure> departure = communicator.end_of(number_);
    if (!departure) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      take(model, i, *departure->outputs[i]);
    }
    endpoint_->device->worked();
    return std::max(begin_ns, departure->end_ns);
  }

 private:
  void begin(const Model& model, double begin_ns) {
    std::vector<Call> calls;
    std::vector<SharedBytes> inputs;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      calls.push_back(calls_[i].call);
      inputs.push_back(std::make_shared<const Bytes>(input_of(model, i)));
    }
    number_ = endpoint_->communicator->begin(begin_ns, std::move(calls), std::move(inputs));
  }

  Bytes input_of(const Model& model, std::size_t i) const {
    const Communicator& communicator = *endpoint_->communicator;
    const Call& call = calls_[i].call;
    const std::size_t bytes = call.input_bytes(communicator.rank(), communicator.ranks());
    if (bytes == 0) {
      return {};
    }
    const std::byte* at = model.memory.reach(*endpoint_->device, calls_[i].input, bytes);
    Bytes input(at, at + bytes);
    if (faults_[i].wrong && call.function == Function::send) {
      spoil(input.data(), call, bytes);
    }
    return input;
  }

  void take(const Model& model, std::size_t i, const Bytes& output) const {
    if (output.empty()) {
      return;
    }
    std::byte* at = model.memory.reach(*endpoint_->device, calls_[i].output, output.size());
    std::copy(output.begin(), output.end(), at);
    if (faults_[i].wrong) {
      spoil(at, calls_[i].call, output.size());
    }
  }

  EndpointPtr endpoint_;
  std::vector<LocalCall> calls_;
  std::vector<Faulty> faults_;
  bool hangs_ = false;
  std::uint64_t number_ = 0;  // 0: not begun
};

bool is_mark(const Operation& operation) {
  return !operation.effect && !operation.end && operation.engines.empty();
}

// As if the stream came here later. A mark that was set just before says when it came, so it is
// late as well.
void hold_up(Model& model, Queue& queue, double ns) {
  if (queue.last && !queue.last->done && is_mark(*queue.last)) {
    queue.last->duration_ns += ns;
    return;
  }
  Operation pause;
  pause.duration_ns = ns;
  model.submit(queue, std::move(pause));
}

Queue& queue_of(Model& model, const Endpoint& endpoint, cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy) {
    return model.default_queue(*endpoint.device);
  }
  Queue& queue = *model.streams.get(stream);
  gpu_sim::require(queue.device == endpoint.device, cudaErrorInvalidResourceHandle);
  return queue;
}

}  // namespace

void launch(const EndpointPtr& endpoint, cudaStream_t stream, const std::vector<LocalCall>& calls) {
  Model& model = Model::get();
  const Lock lock(model.mutex);
  if (model.sticky) {
    throw CudaError(*model.sticky);
  }
  Queue& queue = queue_of(model, *endpoint, stream);
  if (endpoint->device->faults().nccl_late_s > 0) {
    hold_up(model, queue, endpoint->device->faults().nccl_late_s * 1e9);
  }
  Operation operation;
  operation.awaits_others = true;
  const auto launch = std::make_shared<Launch>(endpoint, calls);
  operation.end = [launch, &model](double begin_ns, double) {
    return launch->end(model, begin_ns);
  };
  for (const LocalCall& local : calls) {
    announce_tuning(*endpoint->communicator, local.call);
  }
  std::erase_if(endpoint->operations, [](const OperationPtr& before) { return before->done; });
  endpoint->operations.push_back(model.submit(queue, std::move(operation)));
}

}  // namespace gpu_sim::nccl
