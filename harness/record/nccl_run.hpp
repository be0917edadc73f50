// One run of a program of nccl-tests as its log or its JSON has it, before anything is made of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fleetbench::record {

// In place or out of place, in the units of nccl-tests.
struct NcclFigure {
  double time_us = 0;
  double algbw_GB_s = 0;
  double busbw_GB_s = 0;
  // Elements that arrived wrong, absent where that was not checked; of logs with a column `error`
  // the largest deviation, which is not to be 0.
  std::optional<double> wrong;
};

struct NcclRow {
  int line = 0;  // on which it begins
  std::uint64_t size_bytes = 0;
  std::uint64_t count = 0;
  std::string type;         // "float"
  std::string redop;        // "sum", "none"; empty where there is no such column
  std::optional<int> root;  // -1: it has none; absent where there is no such column
  NcclFigure out_of_place;
  NcclFigure in_place;
};

struct NcclRank {
  int rank = 0;
  int group = 0;  // ranks of one group have a communicator in common
  std::string node;
  int device = 0;
  std::string pci;  // "1b", or "0001:1b:00" where domain or device are not 0
};

// What the test or NCCL itself said of a call that failed.
struct NcclFailure {
  int line = 0;
  std::string node;
  std::string text;
};

struct NcclRun {
  int file = 0;
  int line = 0;            // on which it begins; 0 of JSON
  std::string collective;  // as the log names it: "alltoall"; empty where it does not
  std::string version;     // of NCCL: "2.28.7"; empty where it is not told
  std::vector<NcclRank> ranks;
  int ranks_unnamed = 0;  // that took part, too
  std::vector<NcclRow> rows;
  bool counts_wrong = true;  // false: `wrong` of its figures is a deviation
  std::optional<double> average_GB_s;
  std::optional<double> out_of_bounds;  // checks that failed
  bool complete = false;                // it came to its end
  std::vector<NcclFailure> failures;
  bool out_of_time = false;  // a time limit ended it
  std::string end;           // how it ended where it did not come to its end, for people

  // Of one communicator.
  std::size_t nranks() const {
    std::size_t count = 0;
    for (const NcclRank& rank : ranks) {
      count += rank.group == ranks.front().group ? 1 : 0;
    }
    return count + static_cast<std::size_t>(ranks_unnamed);
  }
  bool has_failed() const { return !complete && (!failures.empty() || rows.empty()); }
  bool is_wrong() const;
};

// Of elements, or of the whole run by its last line.
inline bool NcclRun::is_wrong() const {
  bool any = out_of_bounds.value_or(0) != 0;
  for (const NcclRow& row : rows) {
    any = any || (counts_wrong &&
                  (row.out_of_place.wrong.value_or(0) != 0 || row.in_place.wrong.value_or(0) != 0));
  }
  return any;
}

}  // namespace fleetbench::record
