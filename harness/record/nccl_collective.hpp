// Which collective a run of nccl-tests was of, and what its figures are worth.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/record/nccl_run.hpp"

namespace fleetbench::record {

// "alltoall" of ".../build/alltoall_perf"; empty where no word of the text ends in "_perf".
std::string nccl_program(std::string_view text);

// "2.28.7" of 22807, as NCCL counts its versions; empty where it is none.
std::string nccl_version(double code);

// What busbw is of algbw; none for what nccl-tests has beside the collectives that are known here.
std::optional<double> nccl_busbw_factor(std::string_view collective, std::size_t nranks);

// The collective that the log names, else the only one whose columns, checks and ratio of the two
// bandwidths are those of the rows; empty where several are.
std::string nccl_collective(const NcclRun& run);

// The bus bandwidth in GB/s, from size and time where those are printed with more digits than the
// bandwidth and agree with it, else as printed. A small size of 0.00 GB/s has its value so.
double nccl_busbw(const NcclRow& row, const NcclFigure& figure, std::optional<double> factor);

// As nccl-tests has it: over both figures of all rows. Precondition: there is a row.
double nccl_average(const NcclRun& run);

}  // namespace fleetbench::record
