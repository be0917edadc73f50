// NCCL, opened when it is first needed: a node without it measures its GPUs all the same, and
// another copy of it can be measured than the one that the system has.
#pragma once

#include <nccl.h>

#include <memory>
#include <string>

namespace fleetbench::gpu::nccl {

// The calls that are used, as nccl.h declares them. None of them is null.
struct Calls {
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) comm_init_rank_config = nullptr;
  decltype(&ncclCommFinalize) comm_finalize = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclGetErrorString) get_error_string = nullptr;
  decltype(&ncclGetLastError) get_last_error = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
};

class Library {
 public:
  // libnccl.so.2, or the file that the environment variable FLEETBENCH_NCCL names. Throws
  // NotAvailable where there is none or it is older than what is needed, with the mend.
  Library();

  const Calls& calls() const { return calls_; }
  // "2.28.9"
  const std::string& version() const { return version_; }

 private:
  struct Close {
    void operator()(void* library) const;
  };

  std::unique_ptr<void, Close> library_;
  Calls calls_;
  std::string version_;
};

// The one of this process. Loaded by the first call; where that throws, the next one tries again.
const Library& shared_library();

// "2.28.9" for 22809, as NCCL numbers its versions; 2.8 and before had other numbers.
std::string version_text(int code);

}  // namespace fleetbench::gpu::nccl
