// How communicators come and go.
#include <cstring>

#include "tests/gpu_sim/model/noise.hpp"
#include "tests/gpu_sim/nccl/announcement.hpp"
#include "tests/gpu_sim/nccl/api_call.hpp"
#include "tests/gpu_sim/nccl/hub.hpp"

namespace gpu_sim::nccl {

namespace {

constexpr const char* kLedgerKind = "NCCL communicator";

// A unique id from inside.
struct UniqueId {
  std::uint64_t magic;
  std::uint64_t hash;
  std::uint32_t host;
  std::uint16_t port;
};
constexpr std::uint64_t kIdMagic = 0x64692D6C'63636E73;

Invitation invitation_of(const ncclUniqueId& id) {
  UniqueId inside{};
  std::memcpy(&inside, id.internal, sizeof inside);
  require(inside.magic == kIdMagic, ncclInvalidArgument,
          "CommInitRank : the unique id was not made by ncclGetUniqueId");
  return {{inside.host, inside.port}, inside.hash};
}

bool blocks(const ncclConfig_t* config) {
  if (config == nullptr) {
    return true;
  }
  require(config->magic == 0xcafebeef, ncclInvalidArgument,
          "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
  require(
      config->blocking == 0 || config->blocking == 1 || config->blocking == NCCL_CONFIG_UNDEF_INT,
      ncclInvalidArgument,
      "Invalid config blocking attribute value " + std::to_string(config->blocking));
  return config->blocking != 0;
}

EndpointPtr new_endpoint(const Invitation& invitation, int rank, int ranks, bool blocking) {
  Model& model = Model::get();
  const Lock lock(model.mutex);
  auto endpoint = std::make_shared<Endpoint>();
  endpoint->device = &model.current_device();
  endpoint->blocking = blocking;
  add_endpoint(endpoint);
  endpoint->communicator = std::make_unique<Communicator>(
      invitation, Hello{rank, ranks, member_of(model, *endpoint->device)}, model.now_ns(),
      [handle = endpoint->handle](const Communicator& one) { announce_complete(handle, one); });
  model.ledger.opened(kLedgerKind);
  return endpoint;
}

// Ends the thread, the sockets and what waits; forgets the handle.
void tear_down(const EndpointPtr& endpoint) {
  endpoint->communicator->abort();
  end_hub(endpoint->communicator->invitation().hub);
  remove_endpoint(endpoint);
  Model& model = Model::get();
  const Lock lock(model.mutex);
  is_drained(model, *endpoint);
  endpoint->operations.clear();
  model.ledger.closed(kLedgerKind);
}

ncclResult_t init_rank(ncclComm_t* comm, int ranks, const ncclUniqueId& id, int rank,
                       const ncclConfig_t* config) {
  require(comm != nullptr, ncclInvalidArgument, "CommInitRank : newcomm argument is NULL");
  require(ranks >= 1 && rank >= 0 && rank < ranks, ncclInvalidArgument,
          "Invalid rank requested : " + std::to_string(rank) + "/" + std::to_string(ranks));
  const EndpointPtr endpoint = new_endpoint(invitation_of(id), rank, ranks, blocks(config));
  *comm = endpoint->handle;
  announce_start(endpoint->handle, *endpoint->communicator);
  endpoint->communicator->start(endpoint->device->faults().nccl_init);
  const ncclResult_t result = await_or_group(endpoint);
  if (result != ncclSuccess && result != ncclInProgress) {
    tear_down(endpoint);
    *comm = nullptr;
  }
  return result;
}

// Waits for what was launched, and then for all others to say that they have.
void finalize_and_wait(const EndpointPtr& endpoint) {
  Model& model = Model::get();
  if (!endpoint->has_finalized) {
    Lock lock(model.mutex);
    for (const OperationPtr& operation : endpoint->operations) {
      model.wait_for(lock, operation);
    }
    endpoint->has_finalized = true;
    endpoint->communicator->finalize();
  }
  endpoint->communicator->wait_until_finalized();
}

// Of a communicator that does not block: goes on with what is to be done before all have finalized.
ncclResult_t finalizing_state(const EndpointPtr& endpoint) {
  Model& model = Model::get();
  const Lock lock(model.mutex);
  if (!endpoint->has_finalized && is_drained(model, *endpoint)) {
    endpoint->has_finalized = true;
    endpoint->communicator->finalize();
  }
  return endpoint->communicator->is_finalized() ? ncclSuccess : ncclInProgress;
}

ncclResult_t async_state(const EndpointPtr& endpoint) {
  const ncclResult_t state = endpoint->communicator->state();
  if (state != ncclSuccess) {
    return state;
  }
  if (endpoint->questions > 0) {
    --endpoint->questions;
    return ncclInProgress;
  }
  return endpoint->is_finalizing ? finalizing_state(endpoint) : ncclSuccess;
}

// `value` of a communicator that is ready.
template <typename Value>
ncclResult_t tell(ncclComm_t comm, const char* function, int* result, Value value) {
  return api_call([&] {
    const EndpointPtr endpoint = endpoint_of(comm, function);
    require(result != nullptr, ncclInvalidArgument,
            std::string(function) + " : result argument is NULL");
    require_ready(*endpoint);
    *result = value(*endpoint->communicator);
    return ncclSuccess;
  });
}

}  // namespace

}  // namespace gpu_sim::nccl

using namespace gpu_sim::nccl;

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return api_call([&] {
    require(id != nullptr, ncclInvalidArgument, "GetUniqueId : out argument is NULL");
    const Hub& hub = new_hub(own_host());
    const UniqueId inside{kIdMagic, gpu_sim::hashed(hub.address().text(), hub.serial()),
                          hub.address().host, hub.address().port};
    *id = {};
    std::memcpy(id->internal, &inside, sizeof inside);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  return api_call([&] { return init_rank(comm, ranks, id, rank, config); });
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return api_call([&] {
    const EndpointPtr endpoint = endpoint_of(comm, "CommFinalize");
    require_ready(*endpoint);
    require(!endpoint->is_finalizing, ncclInvalidArgument,
            "comm " + std::to_string(reinterpret_cast<std::uintptr_t>(comm)) +
                " has already been finalized");
    endpoint->is_finalizing = true;
    if (!endpoint->blocking) {
      return ncclInProgress;
    }
    finalize_and_wait(endpoint);
    return endpoint->communicator->state();
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm == nullptr) {
    return ncclSuccess;
  }
  return api_call([&] {
    const EndpointPtr endpoint = endpoint_of(comm, "CommDestroy");
    if (endpoint->communicator->wait_until_met() == ncclSuccess) {
      finalize_and_wait(endpoint);
    }
    tear_down(endpoint);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (comm == nullptr) {
    return ncclSuccess;
  }
  return api_call([&] {
    tear_down(endpoint_of(comm, "CommAbort"));
    return ncclSuccess;
  });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return api_call([&] {
    const EndpointPtr endpoint = endpoint_of(comm, "ncclGetAsyncError");
    require(error != nullptr, ncclInvalidArgument,
            "ncclGetAsyncError : asyncError argument is NULL");
    *error = async_state(endpoint);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return tell(comm, "CommCount", count, [](const Communicator& one) { return one.ranks(); });
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return tell(comm, "CommCuDevice", device,
              [](const Communicator& one) { return one.member().cuda; });
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return tell(comm, "CommUserRank", rank, [](const Communicator& one) { return one.rank(); });
}

}  // extern "C"
