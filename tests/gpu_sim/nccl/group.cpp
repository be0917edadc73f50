#include "tests/gpu_sim/nccl/group.hpp"

#include "tests/gpu_sim/nccl/api_call.hpp"

namespace gpu_sim::nccl {

namespace {

struct Launch {
  EndpointPtr endpoint;
  cudaStream_t stream;
  std::vector<LocalCall> calls;
};

struct Group {
  int depth = 0;
  ncclResult_t result = ncclSuccess;
  std::vector<EndpointPtr> inits;
  std::vector<Launch> launches;
};
thread_local Group group;

ncclResult_t launch_now(const Launch& one) {
  launch(one.endpoint, one.stream, one.calls);
  if (one.endpoint->blocking) {
    return ncclSuccess;
  }
  one.endpoint->questions = 1;
  return ncclInProgress;
}

ncclResult_t await_now(const EndpointPtr& endpoint) {
  return endpoint->blocking ? endpoint->communicator->wait_until_met() : ncclInProgress;
}

ncclResult_t end_group(Group ended) {
  ncclResult_t result = ended.result;
  const auto keep = [&](ncclResult_t next) {
    result = result == ncclSuccess || result == ncclInProgress ? std::max(result, next) : result;
  };
  for (const EndpointPtr& endpoint : ended.inits) {
    keep(await_now(endpoint));
  }
  for (const Launch& one : ended.launches) {
    if (result == ncclSuccess || result == ncclInProgress) {
      keep(launch_now(one));
    }
  }
  return result;
}

}  // namespace

bool in_group() { return group.depth > 0; }

void spoil_group(ncclResult_t result) {
  if (in_group() && group.result == ncclSuccess) {
    group.result = result;
  }
}

ncclResult_t launch_or_group(const EndpointPtr& endpoint, cudaStream_t stream,
                             const LocalCall& call) {
  if (!in_group()) {
    return launch_now({endpoint, stream, {call}});
  }
  for (Launch& one : group.launches) {
    if (one.endpoint == endpoint && one.stream == stream) {
      one.calls.push_back(call);
      return ncclSuccess;
    }
  }
  group.launches.push_back({endpoint, stream, {call}});
  return ncclSuccess;
}

ncclResult_t await_or_group(const EndpointPtr& endpoint) {
  if (!in_group()) {
    return await_now(endpoint);
  }
  group.inits.push_back(endpoint);
  return ncclSuccess;
}

}  // namespace gpu_sim::nccl

using namespace gpu_sim::nccl;

extern "C" {

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  return api_call([] {
    require(in_group(), ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
    return --group.depth > 0 ? ncclSuccess : end_group(std::exchange(group, {}));
  });
}

}  // extern "C"
