// What the library says of itself and of errors.
#include "tests/gpu_sim/nccl/api_call.hpp"
#include "tests/gpu_sim/nccl/nccl_settings.hpp"

using namespace gpu_sim::nccl;

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  return api_call([&] {
    require(version != nullptr, ncclInvalidArgument, "GetVersion : version argument is NULL");
    *version = nccl_settings().version_code();
    return ncclSuccess;
  });
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

// Of the process, whatever communicator is asked about.
const char* ncclGetLastError(ncclComm_t) {
  thread_local std::string text;
  text = last_error();
  return text.c_str();
}

}  // extern "C"
