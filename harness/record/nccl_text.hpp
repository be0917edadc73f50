// Lines of a log of nccl-tests, into which launchers, schedulers and NCCL itself write as well.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "harness/record/nccl_run.hpp"

namespace fleetbench::record {

std::vector<std::string_view> words_between_blanks(std::string_view line);

// Without "[1,0]<stdout>:" of mpirun and "0: " of srun.
std::string_view without_tag(std::string_view line);

// Where a comment of nccl-tests begins that is known here, which need not be where the line begins;
// its end where there is none.
std::size_t nccl_comment_begin(std::string_view line);

// What stands in a word before something else that was written right behind it: "0" of
// "0dgx-07:22:33" and of "0[2025-01-31"; empty where that cannot be told.
std::string_view value_before(std::string_view word, const std::vector<NcclRank>& ranks);

// Whether a word begins a line of NCCL's: "dgx-07:22:33", "[2025-01-31".
bool begins_library_line(std::string_view word);

// "#  Rank  0 Group  0 Pid 338 on cn-1 device  0 [0000:1b:00] NVIDIA H100": from "Rank" on, in any
// of its forms. False where it is cut off.
bool read_nccl_rank(std::string_view text, NcclRank& rank);

// What launchers and schedulers say where they end a job.
struct JobEnd {
  std::string_view meaning;  // "the job met its time limit"
  bool out_of_time = false;
};
std::optional<JobEnd> job_end(std::string_view line);

// "1b" of "0x1b" and of "0000:1b:00"; "0001:1b:00" as it is.
std::string_view short_pci(std::string_view address);

}  // namespace fleetbench::record
