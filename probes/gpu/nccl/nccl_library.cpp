#include "probes/gpu/nccl/nccl_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "probes/probe.hpp"

namespace fleetbench::gpu::nccl {
namespace {

constexpr const char* kDefaultName = "libnccl.so.2";
constexpr const char* kVariable = "FLEETBENCH_NCCL";
// Non-blocking communicators and ncclCommFinalize are there since 2.14, and work with grouped sends
// since 2.18.
constexpr int kOldest = 21800;

std::string name_of_library() {
  const char* chosen = std::getenv(kVariable);
  return chosen == nullptr || *chosen == '\0' ? kDefaultName : chosen;
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw NotAvailable(
        fmt::format("{} has no {}: name a complete library of NCCL {} or later in {}",
                    name_of_library(), name, version_text(kOldest), kVariable));
  }
}

void find_communicators(void* library, Calls& calls) {
  find(library, "ncclGetUniqueId", calls.get_unique_id);
  find(library, "ncclCommInitRankConfig", calls.comm_init_rank_config);
  find(library, "ncclCommFinalize", calls.comm_finalize);
  find(library, "ncclCommDestroy", calls.comm_destroy);
  find(library, "ncclCommAbort", calls.comm_abort);
  find(library, "ncclCommGetAsyncError", calls.comm_get_async_error);
  find(library, "ncclGetErrorString", calls.get_error_string);
  find(library, "ncclGetLastError", calls.get_last_error);
}

void find_operations(void* library, Calls& calls) {
  find(library, "ncclAllReduce", calls.all_reduce);
  find(library, "ncclAllGather", calls.all_gather);
  find(library, "ncclReduceScatter", calls.reduce_scatter);
  find(library, "ncclBroadcast", calls.broadcast);
  find(library, "ncclReduce", calls.reduce);
  find(library, "ncclSend", calls.send);
  find(library, "ncclRecv", calls.recv);
  find(library, "ncclGroupStart", calls.group_start);
  find(library, "ncclGroupEnd", calls.group_end);
}

int version_of(const Calls& calls) {
  int code = 0;
  if (calls.get_version(&code) != ncclSuccess) {
    throw NotAvailable(fmt::format("{} does not say which version it is", name_of_library()));
  }
  return code;
}

}  // namespace

std::string version_text(int code) {
  return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100);
}

void Library::Close::operator()(void* library) const { dlclose(library); }

Library::Library() : library_(dlopen(name_of_library().c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!library_) {
    throw NotAvailable(
        fmt::format("NCCL cannot be opened: {}: install libnccl2, or name the library that "
                    "training uses in the "
                    "environment variable {}",
                    dlerror(), kVariable));
  }
  find(library_.get(), "ncclGetVersion", calls_.get_version);
  const int code = version_of(calls_);
  version_ = version_text(code);
  if (code < kOldest) {
    throw NotAvailable(
        fmt::format("{} is NCCL {}, and {} or later is needed: install a newer libnccl2, or name "
                    "one in {}",
                    name_of_library(), version_, version_text(kOldest), kVariable));
  }
  find_communicators(library_.get(), calls_);
  find_operations(library_.get(), calls_);
}

const Library& shared_library() {
  // Never closed: NCCL's threads may still run its code when the process ends.
  static const Library* const library = new Library;
  return *library;
}

}  // namespace fleetbench::gpu::nccl
