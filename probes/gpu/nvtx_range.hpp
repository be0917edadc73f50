// A named range on the time line of `nsys`.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace fleetbench::gpu {

class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~NvtxRange() { nvtxRangePop(); }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace fleetbench::gpu
