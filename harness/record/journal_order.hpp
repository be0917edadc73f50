// What must not come twice or too late in a journal, beyond what add_record() checks.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "results-schema/run.hpp"

namespace fleetbench::record {

class JournalOrder {
 public:
  // Throws std::invalid_argument where the record contradicts those before: a slot that is over,
  // the same sample of a slot again, anything after the end of a run that was not interrupted.
  //
  // A resumption begins anew, for it measures what is missing, also of slots that were over. Where
  // an interrupted run just goes on, its record is what was damaged. To the end of an interrupted
  // run the gate adds the losses that it saw, and an end of its own.
  void admit(const Record& record);

 private:
  void admit_after_the_end(const Record& record);
  void admit_sample(const SampleRecord& sample);

  using Subject =
      std::tuple<int, int, std::string, std::optional<int>>;  // step, node, device, peer
  std::optional<int> slot_;
  std::set<int> slots_;  // that have begun
  std::set<Subject> of_slot_;
  std::optional<EndRecord> end_;
};

}  // namespace fleetbench::record
