#include "probes/gpu/nccl/debug_log.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace fleetbench::gpu::nccl {
namespace {

constexpr long kMost_bytes = 4 << 20;

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

}  // namespace

DebugLog::DebugLog() : file_(memfd_create("nccl", MFD_CLOEXEC)) {
  for (const char* variable : {"NCCL_DEBUG", "NCCL_DEBUG_FILE"}) {
    if (is_set(variable)) {
      why_not_ = fmt::format("{} is set, so that NCCL tells somebody else", variable);
      return;
    }
  }
  if (!file_) {
    why_not_ = "no file in memory could be made for what NCCL says";
    return;
  }
  setenv("NCCL_DEBUG", "INFO", 1);
  setenv("NCCL_DEBUG_FILE", fmt::format("/proc/self/fd/{}", file_.get()).c_str(), 1);
  setenv("NCCL_DEBUG_SUBSYS", "INIT,NET,TUNING", 0);
}

// NCCL goes on writing at the place that it has reached, so what is cut off leaves a hole.
std::string DebugLog::take() {
  struct stat status {};
  if (why_not_ || fstat(file_.get(), &status) != 0) {
    return {};
  }
  const long size = std::max(0L, static_cast<long>(status.st_size) - taken_);
  std::string text(static_cast<std::size_t>(std::min(size, kMost_bytes)), '\0');
  const ssize_t got = pread(file_.get(), text.data(), text.size(), taken_);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  taken_ += size;
  if (ftruncate(file_.get(), 0) != 0) {
    taken_ = status.st_size;
  }
  return text;
}

}  // namespace fleetbench::gpu::nccl
