#include "probes/gpu/nccl/session.hpp"

namespace fleetbench::gpu::nccl {

Json limit_properties() {
  return Json::parse(R"({
    "init_limit_s": {
      "description": "seconds in which all must have come and the communicator must be there",
      "type": "number", "minimum": 0.1, "maximum": 3600, "default": 60
    },
    "wait_limit_s": {
      "description": "seconds, beside max_s, that a rank waits for calls of which none ends",
      "type": "number", "minimum": 0.1, "maximum": 3600, "default": 20
    }
  })");
}

WaitLimits limits_from(const Json& params) {
  return {.init_s = params.at("init_limit_s").get<double>(),
          .wait_s = params.at("wait_limit_s").get<double>()};
}

}  // namespace fleetbench::gpu::nccl
