// Elements of buffers: how large, and how they are reduced.
#pragma once

#include <nccl.h>

#include "tests/gpu_sim/nccl/wire.hpp"

namespace gpu_sim::nccl {

// 0 where NCCL has no such type.
std::size_t element_bytes(ncclDataType_t type);
const char* type_name(ncclDataType_t type);  // float32

// Whether `reduced` knows it: sum, prod, max and min.
bool is_known(ncclRedOp_t op);

// Element by element, one input after the other in their order, rounded to the type each time.
// `inputs` is not empty, and all are equally long.
Bytes reduced(const std::vector<const Bytes*>& inputs, ncclDataType_t type, ncclRedOp_t op);

}  // namespace gpu_sim::nccl
