// The arithmetic of a multiplication, on the CPU.
#pragma once

#include <cstddef>

#include "tests/gpu_sim/cublaslt/problem.hpp"

namespace gpu_sim {

// How many bytes a matrix spans, from its first element to its last.
std::size_t span_bytes(const MatrixLayout& layout);

// D = alpha · op(A) · op(B) + beta · C with sums in fp32. C is not read where beta is 0.
void multiply(const Problem& problem, float alpha, const std::byte* a, const std::byte* b,
              float beta, const std::byte* c, std::byte* d);

}  // namespace gpu_sim
