// The ways to multiply that the library offers. They compute the same bits; speed and workspace
// differ.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <span>

#include "tests/gpu_sim/cublaslt/problem.hpp"

namespace gpu_sim {

struct Algorithm {
  int id;
  cublasLtMatmulTile_t tile;
  unsigned tile_rows;
  unsigned tile_columns;
  int split_k;
  double speed;  // of the best
  std::size_t workspace_bytes;
};

// In the order in which the heuristic offers them, which is not quite that of their speed: a
// program that tries them finds a better one than the first.
std::span<const Algorithm> algorithms();

// What the program keeps of an algorithm: bytes without a pointer, valid in every process.
cublasLtMatmulAlgo_t packed(const Algorithm& algorithm, Precision precision);

// Throws CUBLAS_STATUS_INVALID_VALUE for bytes that no call made, and CUBLAS_STATUS_NOT_SUPPORTED
// for those of another precision.
const Algorithm& unpacked(const cublasLtMatmulAlgo_t& algo, Precision precision);
// Of whatever precision.
const Algorithm& unpacked(const cublasLtMatmulAlgo_t& algo);

}  // namespace gpu_sim
