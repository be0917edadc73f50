// The loops of STREAM (J. McCalpin, "Memory bandwidth and machine balance in current high
// performance computers", IEEE TCCA newsletter 1995), and one that only reads.
//
// Compiled with -O3 for the baseline of the architecture: 16-byte vectors already ask a core for
// several times what memory gives it, so wider ones would change nothing but the dependence on the
// CPU. Ordinary stores, never non-temporal ones: a line that is written is read first, so copy
// moves 3/2 and triad 4/3 of the bytes that STREAM's definitions count. A STREAM built with gcc
// turns copy into memcpy(), which above a size that glibc derives from the cache writes past it:
// its copy then reads up to a half higher than this one, its triad alike.
#pragma once

#include <cstddef>

namespace fleetbench::memory_kernels {

inline constexpr double kTriadFactor = 3.0;

// `count` elements each; a multiple of kReadBlock. The arrays do not overlap.
inline constexpr std::size_t kReadBlock = 16;

// c = a
void copy(double* c, const double* a, std::size_t count);
// a = b + kTriadFactor · c
void triad(double* a, const double* b, const double* c, std::size_t count);
// The sum, exact where all partial sums are integers below 2^53.
double read(const double* a, std::size_t count);

}  // namespace fleetbench::memory_kernels
