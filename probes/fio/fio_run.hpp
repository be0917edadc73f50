// Runs fio and gives what it says, or throws in its own words.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "probes/fio/fio_output.hpp"

namespace fleetbench {

// One section of a job file, given by command line options. Sections of one `group` name run at the
// same time and are reported as one job of that name; a group begins when the one before has ended.
struct FioSection {
  std::string group;
  std::vector<std::string> options;  // "--rw=read"; file names are relative to the folder
};

struct FioRun {
  FioOutput output;
  std::string warnings;  // what it said beside its results, printable
  double wall_s = 0;
  double cpu_s = 0;
};

// The argument vector for sections in order. fio's threads instead of processes: they start faster.
std::vector<std::string> fio_command(const std::vector<FioSection>& sections);

// Throws NotAvailable where there is no fio, or it lacks an I/O engine; the message says what to
// install.
void require_fio();

// Runs fio in `folder`, where the files of the sections are. Throws NotAvailable as above and
// std::runtime_error naming `folder` where fio failed, was killed, did not end within `limit_s`,
// wrote what cannot be read, or a job of it failed.
FioRun run_fio(const std::vector<FioSection>& sections, const std::filesystem::path& folder,
               double limit_s);

// Of a job that must have moved data. Throws std::runtime_error where it has not.
const FioDirection& direction_of(const FioRun& run, const std::string& job,
                                 const std::string& direction);

}  // namespace fleetbench
