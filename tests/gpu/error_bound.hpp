// How far a product that a GPU computes may lie from the exact one.
#pragma once

#include <string_view>

namespace fleetbench::gpu {

// The largest relative error of one operation.
struct Rounding {
  double input;   // a factor, as the multiplier reads it
  double sum;     // a product or an addition, in the accumulator
  double output;  // the result, as it is stored
};

// Of a precision of probes/gpu/precision.hpp, on the coarsest chip that has it. Throws
// std::invalid_argument for a name that is none.
//   fp32: to nearest, 24 bits.
//   tf32, fp16, bf16: tensor cores shift all terms to the largest one and cut them off at 24 bits
//     (M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor cores",
//     PeerJ Computer Science 7:e330, 2021); they read fp32 as tf32 by cutting it off at 11 bits.
//   fp8: Hopper cuts off at 14 bits (DeepSeek-AI, "DeepSeek-V3 technical report", section 3.3.2,
//     2024).
Rounding rounding_of(std::string_view precision);

// The largest error of a sum of `length` products. `norms`: |x|·|y|, Euclidean lengths of the two
// vectors of factors; `exact`: the sum. Whatever the order of the additions, the computed sum is
//   Σ xᵢyᵢ(1 + θᵢ), |θᵢ| ≤ γ = k/(1 − k), k = 2·input + 2·length·sum
// (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., 2002, lemma 3.1 and
// section 3.1, which has length in the place of 2·length), and Σ|xᵢ||yᵢ| ≤ |x|·|y| (Cauchy and
// Schwarz). Twice, as a block of b terms that are cut off together costs b + 1 errors, and one more
// to put the sum in order (P. Blanchard et al., "Mixed precision block fused multiply-add", SIAM J.
// Sci. Comput. 42(3), 2020, for the analysis of blocks); b is at least 4. The largest for k ≥ 1 is
// infinite.
double error_bound(const Rounding& rounding, int length, double norms, double exact);

}  // namespace fleetbench::gpu
