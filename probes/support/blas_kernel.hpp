// Which of its kernels OpenBLAS computes with.
#pragma once

namespace fleetbench {

// An OpenBLAS that is older than the processor takes it for the oldest one it knows and leaves the
// vector units idle that every job uses: Debian 12's does so on Intel's Emerald Rapids, at a
// fraction of the rate. Where that happened this process starts again with
// OPENBLAS_CORETYPE=Haswell (AVX2 and FMA). Call first thing in main: OpenBLAS chooses while it is
// loaded. Does nothing where OPENBLAS_CORETYPE is set or no such processor is there.
void use_vector_kernels(char** argv);

}  // namespace fleetbench
